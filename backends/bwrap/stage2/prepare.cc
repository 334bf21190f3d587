#include "prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apply_filter.h"
#include "apply_landlock.h"
#include "check_view.h"
#include "drop_capabilities.h"
#include "landlock_witness.h"

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kScopeAbstract = 1U << 0U;
constexpr std::uint64_t kScopeSignal = 1U << 1U;

// Entries in the order of the report, which is not the order of the work.
struct Progress {
  std::vector<std::string> limits;
  std::vector<std::string> restrictions;
  std::vector<std::string> capabilities;
  std::vector<std::string> deny_set;
  std::vector<std::string> extras;
  std::vector<std::string> unheld;
  std::vector<std::string> skipped;
};

struct Limit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// Never raises a limit: where the one in force is lower already, it stays.
StepResult<void> set_limit(__rlimit_resource resource, Limit limit, const char* tag) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return stop(Stage2Step::kLimits, tag, errno);
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(limit.soft, current.rlim_cur),
                      .rlim_max = std::min<rlim_t>(limit.hard, current.rlim_max)};
  if (::setrlimit(resource, &wanted) != 0) return stop(Stage2Step::kLimits, tag, errno);
  return {};
}

// Claims only what reading back shows.
StepResult<void> hold_limit(__rlimit_resource resource, Limit limit, const char* tag,
                            Progress& progress) {
  LOOM_TRY_VOID(set_limit(resource, limit, tag));
  rlimit held{};
  if (::getrlimit(resource, &held) != 0) return stop(Stage2Step::kLimits, tag, errno);
  if (held.rlim_cur <= limit.soft && held.rlim_max <= limit.hard) {
    progress.limits.emplace_back(tag);
  } else {
    progress.skipped.push_back(std::string(tag) + ": it was set, and does not read back");
  }
  return {};
}

// The helper raised it, and a command may choke on what is usual for us: some close each possible
// number before they start another program.
StepResult<void> restore_descriptor_limit(const PrepareDocument& document) {
  if (!document.descriptor_limit) return {};
  rlimit current{};
  if (::getrlimit(RLIMIT_NOFILE, &current) != 0) {
    return stop(Stage2Step::kLimits, "descriptor limit", errno);
  }
  return set_limit(RLIMIT_NOFILE, {.soft = *document.descriptor_limit, .hard = current.rlim_max},
                   "descriptor limit");
}

// What the kernel does with a dump: '|' a program, '@' a socket, anything else a file's name. 0
// when that cannot be read.
char dump_receiver() {
  char first = '\0';
  const UniqueFd pattern(::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC));
  return pattern && ::pread(pattern.get(), &first, 1, 0) == 1 ? first : '\0';
}

// One byte is less than the smallest dump, and the one limit that also keeps a dump from a program
// (fs/coredump.c, which runs its own handler under it); 0 does not. A hard limit of 0 cannot be
// raised. No limit keeps a dump from a socket (Linux 6.16).
StepResult<void> forbid_dumps(Progress& progress) {
  static constexpr Limit kNoDump{.soft = 1, .hard = 1};
  rlimit held{};
  if (::getrlimit(RLIMIT_CORE, &held) != 0) return stop(Stage2Step::kLimits, "no core", errno);
  // Not set_limit, which would leave a soft limit of 0.
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(kNoDump.soft, held.rlim_max),
                      .rlim_max = std::min<rlim_t>(kNoDump.hard, held.rlim_max)};
  if (::setrlimit(RLIMIT_CORE, &wanted) != 0 || ::getrlimit(RLIMIT_CORE, &held) != 0) {
    return stop(Stage2Step::kLimits, "no core", errno);
  }
  const char receiver = dump_receiver();
  if (held.rlim_cur > kNoDump.soft || held.rlim_max > kNoDump.hard) {
    progress.unheld.emplace_back("unheld:no-core=the limit was set, and does not read back");
  } else if (receiver == '@') {
    progress.unheld.emplace_back("unheld:no-core=the kernel hands dumps to a socket");
  } else if (held.rlim_cur == 0 && (receiver == '|' || receiver == '\0')) {
    progress.unheld.emplace_back(
        "unheld:no-core=the limit was 0 before, which does not keep dumps from a handler");
  }
  return {};
}

StepResult<void> hold_ceilings(const PrepareDocument& document, Progress& progress) {
  if (document.fsize) {
    const Limit limit{.soft = *document.fsize, .hard = *document.fsize};
    LOOM_TRY_VOID(hold_limit(RLIMIT_FSIZE, limit, "rlimit-fsize", progress));
  }
  if (document.cpu_soft && document.cpu_hard) {
    const Limit limit{.soft = *document.cpu_soft, .hard = *document.cpu_hard};
    LOOM_TRY_VOID(hold_limit(RLIMIT_CPU, limit, "rlimit-cpu", progress));
  }
  return {};
}

StepResult<void> hold_limits(const PrepareDocument& document, Progress& progress) {
  LOOM_TRY_VOID(restore_descriptor_limit(document));
  LOOM_TRY_VOID(forbid_dumps(progress));
  return hold_ceilings(document, progress);
}

// EPERM says that the process leads a group. Only a session leader may pass with that.
StepResult<void> lead_session() {
  if (::setsid() >= 0) return {};
  const int error = errno;
  if (error == EPERM && ::getsid(0) == ::getpid()) return {};
  return stop(Stage2Step::kSession, "setsid", error);
}

void claim_scopes(const PrepareDocument& document, const LandlockWitness& witness,
                  Progress& progress) {
  const bool signals = (document.landlock_scoped & kScopeSignal) != 0;
  std::string scopes;
  if ((document.landlock_scoped & kScopeAbstract) != 0) scopes = "abstract";
  if (signals) scopes.append(scopes.empty() ? "signal" : ",signal");
  if (scopes.empty()) return;
  // The scopes are words of one call: what one of them does shows that the kernel has read them.
  const bool held = signals ? witness.saw_signal_scope() : witness.doubt_rules().empty();
  progress.extras.push_back(held ? "scopes=" + scopes : "unheld:signal-scope");
}

StepResult<void> restrict_files(const PrepareDocument& document, Progress& progress) {
  if (document.landlock_abi == 0) {
    progress.skipped.push_back("landlock: " + document.landlock_reason);
    return {};
  }
  const LandlockWitness witness(document);
  LOOM_TRY_VOID(apply_landlock(document));
  const std::string doubt = witness.doubt_rules();
  // Security: then nothing keeps the command from reading other processes' environments.
  if (!doubt.empty() && document.shares_pids) return stop(Stage2Step::kLandlock, doubt);
  if (doubt.empty()) {
    progress.restrictions.push_back("landlock:abi=" + std::to_string(document.landlock_abi));
  } else {
    progress.skipped.push_back("landlock: " + doubt);
  }
  claim_scopes(document, witness, progress);
  return {};
}

void move_all(std::vector<std::string>& from, std::vector<std::string>& into) {
  for (std::string& entry : from) into.push_back(std::move(entry));
}

StepResult<void> filter_calls(const PrepareDocument& document, Progress& progress) {
  LOOM_TRY(FilterEntries entries, apply_filter(document));
  move_all(entries.restrictions, progress.restrictions);
  move_all(entries.extras, progress.extras);
  move_all(entries.skipped, progress.skipped);
  progress.deny_set = std::move(entries.deny_set);
  return {};
}

void admit_missing_proxy(const PrepareDocument& document, Progress& progress) {
  if (document.proxy_reason.empty()) return;
  progress.skipped.push_back("network-proxy: " + document.proxy_reason);
}

StepResult<void> forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return {};
  return stop(Stage2Step::kNoNewPrivs, "no_new_privs", errno);
}

void claim_no_new_privileges(Progress& progress) {
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
    progress.restrictions.emplace_back("no-new-privs");
  } else {
    progress.skipped.emplace_back("no-new-privs: it was set, and does not read back");
  }
}

InnerReport assemble(Progress progress) {
  InnerReport report;
  for (auto* part : {&progress.limits, &progress.restrictions, &progress.capabilities,
                     &progress.deny_set, &progress.extras, &progress.unheld}) {
    move_all(*part, report.applied);
  }
  report.skipped = std::move(progress.skipped);
  return report;
}

}  // namespace

StepResult<InnerReport> prepare(const PrepareDocument& document) {
  Progress progress;
  if (document.jailed) LOOM_TRY_VOID(check_view(document));
  LOOM_TRY_VOID(hold_limits(document, progress));
  if (document.jailed && !document.shares_pids) LOOM_TRY_VOID(lead_session());
  LOOM_TRY_VOID(forbid_new_privileges());
  LOOM_TRY(progress.capabilities, drop_capabilities(document.keep_caps));
  LOOM_TRY_VOID(restrict_files(document, progress));
  claim_no_new_privileges(progress);
  LOOM_TRY_VOID(filter_calls(document, progress));
  admit_missing_proxy(document, progress);
  return assemble(std::move(progress));
}

StepResult<void> write_report(const InnerReport& report, int report_fd) {
  UniqueFd pipe(report_fd);
  const Bytes bytes = encode(report);
  if (bytes.size() > kMaxInnerReportBytes) return stop(Stage2Step::kReport, "report", E2BIG);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(pipe.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return stop(Stage2Step::kReport, "report", errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace loom::bwrap
