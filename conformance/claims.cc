#include "claims.h"

#include <cerrno>

namespace loom::conformance {
namespace {

constexpr const char* kManyChildren = "children:40";

// One claim, and how the command sees whether it is true. Nobody's word is taken for an answer that
// is missing.
struct Probed {
  const char* tag;
  const char* entry;  // the whole entry, where only one is probed; else empty
  bool (*holds)(const JailRun& run, const ClaimTrial& trial);
};

bool is_refused(const JailRun& run, const std::string& op) { return run.answer(op) > 0; }

bool is_zero(const std::string& hex) {
  return !hex.empty() && hex.find_first_not_of('0') == std::string::npos;
}

bool no_capabilities(const JailRun& run, const ClaimTrial&) {
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (!is_zero(run.text(std::string("status:") + set))) return false;
  }
  return true;
}

bool no_new_privileges(const JailRun& run, const ClaimTrial&) {
  return run.text("status:NoNewPrivs") == "1";
}

bool no_sockets(const JailRun& run, const ClaimTrial&) { return is_refused(run, "inet:"); }

bool no_odd_calls(const JailRun& run, const ClaimTrial&) {
  return run.answer("call:clone3") == ENOSYS && run.answer("call:keyctl") == EPERM;
}

bool no_writing_elsewhere(const JailRun& run, const ClaimTrial&) {
  return is_refused(run, "write:/proc/self/oom_score_adj");
}

bool no_process_outside(const JailRun& run, const ClaimTrial& trial) {
  return is_refused(run, "signal:" + trial.process);
}

bool no_socket_outside(const JailRun& run, const ClaimTrial& trial) {
  return is_refused(run, "abstract:" + trial.socket);
}

bool is_masked(const JailRun& run, const ClaimTrial& trial) {
  return is_refused(run, "read:" + trial.masked);
}

bool limits_time(const JailRun& run, const ClaimTrial&) {
  return run.text("limit:cpu") == std::to_string(ClaimTrial::kCpuSeconds);
}

bool limits_files(const JailRun& run, const ClaimTrial&) {
  return run.text("limit:fsize") == std::to_string(ClaimTrial::kFileBytes);
}

bool limits_processes(const JailRun& run, const ClaimTrial&) {
  const int made = run.answer(kManyChildren);
  return made >= 0 && made < static_cast<int>(ClaimTrial::kProcesses);
}

constexpr Probed kProbed[] = {{"no-new-privs", "", no_new_privileges},
                              {"caps", "caps=none", no_capabilities},
                              {"seccomp-net", "", no_sockets},
                              {"seccomp-deny", "", no_odd_calls},
                              {"landlock", "", no_writing_elsewhere},
                              {"bwrap", "", no_process_outside},
                              {"rlimit-cpu", "", limits_time},
                              {"rlimit-fsize", "", limits_files},
                              {"cgroup-v2", "", limits_processes},
                              {"scopes", "", no_socket_outside},
                              {"mounts", "", is_masked},
                              {"landlock-fs", "", is_masked}};

const Probed* probed(const std::string& entry) {
  for (const Probed& claim : kProbed) {
    if (applied_tag(entry) != claim.tag) continue;
    if (claim.entry[0] == '\0' || entry == claim.entry) return &claim;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> ClaimTrial::operations() const {
  return {"status",
          "limits",
          "inet:",
          "call:clone3",
          "call:keyctl",
          "write:/proc/self/oom_score_adj",
          "signal:" + process,
          "abstract:" + socket,
          "read:" + masked,
          kManyChildren};
}

void judge_claims(const JailRun& run, const ClaimTrial& trial, Judgement& judgement) {
  if (run.text("status:NoNewPrivs").empty()) {
    return judgement.breach("positive control: the command cannot read its own status");
  }
  std::string unprobed;
  for (const std::string& entry : run.entries) {
    if (applied_tag(entry).empty()) continue;
    const Probed* const claim = probed(entry);
    if (claim == nullptr) {
      unprobed += (unprobed.empty() ? "" : ", ") + entry;
    } else if (!claim->holds(run, trial)) {
      judgement.unheld("the report claims " + entry + ", and it does not show");
    }
  }
  if (!unprobed.empty()) judgement.remark("claimed, not probed: " + unprobed);
}

}  // namespace loom::conformance
