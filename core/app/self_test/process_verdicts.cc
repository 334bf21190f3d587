#include "app/self_test/process_verdicts.h"

namespace loom::app {
namespace {

std::string printed(const ProbeRun& run) {
  return "stdout " + quote_output(run.out) + ", stderr " + quote_output(run.err);
}

// What holds for every leftover that was really there.
ProbeVerdict judge_leftover(const ProbeRun& run, bool gone) {
  if (run.settled > kMaxSettling) {
    return failed("settling took " + std::to_string(run.settled.count()) + " ms");
  }
  if (!gone) return failed("a process of the run was still there two seconds after it had settled");
  return enforced();
}

}  // namespace

ProbeVerdict judge_orphan(const LeftoverEvidence& seen) {
  if (number_after(seen.run.out, kOrphanStarted) == 0) {
    return failed("no orphan was started, so promptness proves nothing; " + printed(seen.run));
  }
  if (!seen.seen_alive) return failed("inconclusive: the orphan was not seen from outside");
  return judge_leftover(seen.run, seen.gone);
}

ProbeVerdict judge_setsid_escape(const LeftoverEvidence& seen) {
  if (has_line(seen.run.out, kSetsidDenied)) return failed("setsid was denied, so nothing escaped");
  if (!has_line(seen.run.out, kSetsidOk)) {
    return failed("no session was made; " + printed(seen.run));
  }
  if (has_line(seen.run.out, kSetsidSurvived)) return failed("the escaped process survived");
  if (!seen.seen_alive) return failed("inconclusive: the escape was not seen from outside");
  if (seen.must_be_swept && !seen.run.result.swept_descendant) {
    return failed("no observed descendant was killed at the end of the run");
  }
  return judge_leftover(seen.run, seen.gone);
}

ProbeVerdict judge_heartbeat(const HeartbeatEvidence& seen) {
  static constexpr std::uint64_t kEnough = 2;
  if (number_after(seen.run.out, kBeats) < kEnough) {
    return failed("no heartbeat was seen during the run; " + printed(seen.run));
  }
  if (seen.first != seen.second) {
    return failed("the heartbeat goes on after the run: " + quote_output(seen.first) + ", then " +
                  quote_output(seen.second));
  }
  return judge_leftover(seen.run, seen.gone);
}

}  // namespace loom::app
