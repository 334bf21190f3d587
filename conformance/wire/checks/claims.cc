#include "../../claims.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "../../loopback.h"
#include "../in_jail.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = 1U << 20U;

// One ceiling: what a command can do without it, and not with it.
struct Ceiling {
  const char* limit;
  std::uint64_t value;
  std::string operation;
  int unlimited;  // the answer without the ceiling
  bool (*held)(const JailRun& limited, int answer);
  Denial denial;
};

// Ended by a signal on the way, with what it had answered before.
bool is_ended(const JailRun& run, int answer) {
  return answer < 0 && run.tried("pid:") && run.code > 128;
}

std::vector<Ceiling> ceilings_in(const Place& place) {
  return {{"fsize_bytes",
           65'536,
           "fill:" + place.at("work/large"),
           256,
           [](const JailRun&, int blocks) { return blocks == 16; },
           {"a file outgrew its ceiling of 16 blocks", words::kFileSize, {"rlimit-fsize"}}},
          {"cpu_s",
           1,
           "burn:2",
           0,
           is_ended,
           {"a command computed past its ceiling of one second", words::kCpu, {"rlimit-cpu"}}},
          {"pids",
           16,
           "children:40",
           40,
           [](const JailRun&, int made) { return made >= 0 && made < 16; },
           {"a command had more processes than its ceiling of 16",
            words::kProcesses,
            {"cgroup-v2", "rlimit-processes"}}},
          {"mem_bytes",
           48 * kMebibyte,
           "memory:128",
           0,
           [](const JailRun& run, int error) { return error > 0 || is_ended(run, error); },
           {"a command had more memory than its ceiling of 48 MiB",
            words::kMemory,
            {"cgroup-v2", "rlimit-address-space"}}}};
}

Result<void> judge_ceiling(const Session& session, Conversation& talk, const std::string& probe,
                           const Ceiling& ceiling) {
  const Json start = probe_start(probe, {"pid", ceiling.operation});
  LOOM_TRY(const Run open, talk.execute(start));
  LOOM_TRY_VOID(demand(
      seen_by(open).answer(ceiling.operation) == ceiling.unlimited,
      "positive control: " + ceiling.operation + " without a ceiling came to: " + open.text()));
  const Json policy = limited(session.policy, ceiling.limit, ceiling.value);
  LOOM_TRY(const auto run, unless_refused(session, talk, with(start, "policy", policy),
                                          {ceiling.limit, ceiling.denial.names.front()}));
  if (!run) return {};
  const JailRun seen = seen_by(*run);
  LOOM_TRY_VOID(demand(seen.tried("pid:"), "the command did not begin: " + run->text()));
  deny(session, *run, ceiling.held(seen, seen.answer(ceiling.operation)), ceiling.denial);
  return {};
}

Result<void> judge_limits(const Session& session) {
  LOOM_TRY(const std::string probe, bring_probe(session));
  LOOM_TRY(const auto talk, session.open());
  for (const Ceiling& ceiling : ceilings_in(*session.place)) {
    LOOM_TRY_VOID(named(ceiling.limit, judge_ceiling(session, *talk, probe, ceiling)));
  }
  return still_runs(*talk);
}

// Files of the host's /tmp that go when the check does.
struct HostFiles {
  std::string base;

  [[nodiscard]] std::string at(const char* name) const { return base + name; }
  ~HostFiles() {
    for (const char* name : {"-host", "-first"}) std::remove(at(name).c_str());
  }
};

// What one run leaves in /tmp, and where LOOM_SCRATCH_DIR says, the next one must not find, nor the
// host.
Result<void> judge_scratch(const Session& session) {
  const HostFiles files{"/tmp/" + fs::path(session.place->at("")).filename().string()};
  const std::string host = files.at("-host");
  const std::string first = files.at("-first");
  std::FILE* const file = std::fopen(host.c_str(), "we");
  if (file == nullptr) return fail(ErrorCode::kSystem, "cannot write /tmp");
  std::fputs("of the host", file);
  std::fclose(file);
  LOOM_TRY(const std::string probe, bring_probe(session));
  const Json policy = with(session.policy, "env_allow", Json::array({"LOOM_SCRATCH_DIR", "PATH"}));
  const auto asks = [&](const std::vector<std::string>& operations) {
    return with(probe_start(probe, operations), "policy", policy);
  };
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run one,
           talk->execute(asks({"read:" + host, "create:" + first, "read:" + first, "scratch"})));
  const bool leaked = fs::exists(first);
  LOOM_TRY(const Run other, talk->execute(asks({"read:" + first, "scratch"})));
  LOOM_TRY_VOID(talk->shut_down());
  const JailRun seen = seen_by(one);
  const JailRun later = seen_by(other);
  LOOM_TRY_VOID(demand(seen.tried("scratch:") && later.tried("scratch:"),
                       "a command did not run: " + one.text() + ", then " + other.text()));
  // At /tmp, or where the variable says.
  const bool works = seen.answer("read:" + first) == 0 || seen.answer("scratch:") == 0;
  if (!works && entry_that_names(seen.entries, words::kScratch).empty()) {
    return demand(false, "positive control: the private scratch cannot be written");
  }
  deny(session, one, seen.answer("read:" + host) > 0 && !leaked,
       {"/tmp is the host's", words::kScratch, kWireViewClaims});
  deny(session, other, later.answer("read:" + first) > 0 && later.answer("scratch:") != EEXIST,
       {"a run sees what another one left in its scratch", words::kScratch, kWireViewClaims});
  return {};
}

Json with_ceilings(const Json& policy) {
  return limited(limited(limited(policy, "cpu_s", ClaimTrial::kCpuSeconds), "fsize_bytes",
                         ClaimTrial::kFileBytes),
                 "pids", ClaimTrial::kProcesses);
}

Result<void> judge_report(const Session& session) {
  const auto listener = listen_abstract();
  if (!listener) return fail(ErrorCode::kSystem, listener.error().message);
  LOOM_TRY(const std::string probe, bring_probe(session));
  LOOM_TRY(const auto talk, session.open());
  // Where a mask inside of a grant is refused, one that nothing grants will do.
  for (const char* const inside : {"work/.env", "elsewhere/hidden"}) {
    const ClaimTrial trial{.masked = session.place->at(inside),
                           .process = std::to_string(::getpid()),
                           .socket = listener->name};
    const Json masked = with(session.policy, "protected", Json::array({trial.masked}));
    LOOM_TRY(const auto granted,
             first_granted(session, *talk, probe_start(probe, trial.operations()),
                           {with_ceilings(masked), masked},
                           {"protected", trial.masked, "cpu", "fsize", "pids"}));
    if (!granted) continue;
    LOOM_TRY_VOID(demand(granted->run.exit.has_value(), granted->run.text()));
    judge_claims(seen_by(granted->run), trial, session.judgement);
    return {};
  }
  return {};
}

}  // namespace

std::vector<Check> wire_claim_checks() {
  return {
      {"jail.limits", "Ceilings stop the command where they say, or the report names them.",
       judged<judge_limits>, 90},
      {"jail.scratch",
       "What a run leaves in its private scratch is seen by no other run and not by the host.",
       judged<judge_scratch>},
      {"jail.claims", "What the report claims, the command meets.", judged<judge_report>},
  };
}

}  // namespace loom::conformance
