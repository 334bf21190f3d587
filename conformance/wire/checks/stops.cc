#include <thread>

#include "../session.h"

namespace loom::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// The grace between SIGTERM and SIGKILL, less what clocks round away.
constexpr Millis kGrace{1'950};

Millis since(Clock::time_point began) {
  return std::chrono::duration_cast<Millis>(Clock::now() - began);
}

// No sooner: later than the broker's patience nothing comes at all.
Result<void> not_before(Millis took, Millis least) {
  return demand(took >= least, "it took " + std::to_string(took.count()) + " ms, and at least " +
                                   std::to_string(least.count()) + " were due");
}

Result<void> stops(const Session& session, const char* script, std::uint64_t code, Millis least) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell(script)));
  const auto began = Clock::now();
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
  LOOM_TRY_VOID(not_before(since(began), least));
  LOOM_TRY_VOID(came_to(run, code, "up\n"));
  return still_runs(*talk);
}

Result<void> judge_polite(const Session& session) {
  // The statuses tell that nobody was killed.
  LOOM_TRY_VOID(named("a command with a handler", stops(session, kPolite, 7, Millis(0))));
  return named("a command without one", stops(session, kWaits, 128 + 15, Millis(0)));
}

Result<void> judge_ladder(const Session& session) { return stops(session, kDeaf, 128 + 9, kGrace); }

Result<void> judge_repeated(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell(kDeaf)));
  const auto began = Clock::now();
  for (int round = 0; round < 4; ++round) {
    LOOM_TRY_VOID(talk->cancel(run));
    LOOM_TRY_VOID(talk->heartbeat());
    std::this_thread::sleep_for(Millis(400));
  }
  // The broker's patience began with the first.
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience - since(began)));
  LOOM_TRY_VOID(not_before(since(began), kGrace));
  LOOM_TRY_VOID(talk->cancel(run));
  return talk->heartbeat();
}

Result<void> judge_idle(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(talk->send(99, "cancel", Json::object()));
  LOOM_TRY_VOID(talk->heartbeat());
  LOOM_TRY(const Run run, talk->execute(shell("exit 3")));
  LOOM_TRY_VOID(came_to(run, 3, ""));
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(talk->heartbeat());
  LOOM_TRY_VOID(demand(talk->silent_for(Millis(200)), "a cancel with nothing running is answered"));
  LOOM_TRY(const Run next, talk->execute(shell("sleep 0.2; exit 4")));
  LOOM_TRY_VOID(came_to(next, 4, ""));
  return demand(!next.flag("cancelled"), "a cancel was kept for the next execution");
}

Result<void> judge_at_once(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (int round = 0; round < 10; ++round) {
    Run run;
    run.id = talk->next_id();
    LOOM_TRY_VOID(talk->send_bytes(envelope(run.id, "exec_start", shell("sleep 600")) +
                                   envelope(run.id, "cancel", Json::object())));
    LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
    LOOM_TRY_VOID(demand(run.code() != 0, "a cancelled sleeper ended well: " + run.text()));
  }
  return still_runs(*talk);
}

Result<void> judge_body(const Session& session) {
  for (const Json& body : {Json(7), Json::array(), Json({{"a", 1}}), Json("x")}) {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY(Run run, running(*talk, shell(kWaits)));
    LOOM_TRY_VOID(talk->send(run.id, "cancel", body));
    LOOM_TRY_VOID(named("cancel " + body.dump(), ends_cancelled(*talk, run, kCancelPatience)));
  }
  return {};
}

Result<void> times_out(const Session& session, const char* script, std::uint64_t code,
                       std::uint64_t least_ms) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run,
           talk->execute(with(shell(script), "policy", limited(session.policy, "wall_s", 1))));
  LOOM_TRY_VOID(came_to(run, code, "up\n"));
  LOOM_TRY_VOID(demand(run.flag("timed_out") && run.flag("cancelled"),
                       "timed_out and cancelled were due: " + run.text()));
  const std::uint64_t took = run.count("wall_ms");
  return demand(took >= least_ms,
                "the wall clock of one second ended it after " + std::to_string(took) + " ms");
}

Result<void> judge_wall(const Session& session) {
  LOOM_TRY_VOID(named("a polite command", times_out(session, kPolite, 7, 1'000)));
  LOOM_TRY_VOID(
      named("a deaf command", times_out(session, kDeaf, 128 + 9, 1'000 + kGrace.count())));
  LOOM_TRY(const auto talk, session.open());
  const Json long_wall = limited(session.policy, "wall_s", 30);
  LOOM_TRY(const Run run, talk->execute(with(shell("exit 5"), "policy", long_wall)));
  LOOM_TRY_VOID(came_to(run, 5, ""));
  return demand(!run.flag("timed_out") && !run.flag("cancelled"),
                "a command that was quicker timed out: " + run.text());
}

// At once is: before anything else, be it the end of a run that comes in two seconds.
Result<void> judge_heartbeat(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(named("with nothing running", talk->heartbeat()));
  LOOM_TRY(Run run, running(*talk, shell(kDeaf)));
  LOOM_TRY_VOID(named("during a run", talk->heartbeat()));
  LOOM_TRY_VOID(talk->cancel(run));
  for (int round = 0; round < 8; ++round) {
    LOOM_TRY_VOID(named("on the ladder", talk->heartbeat()));
  }
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
  return named("after the end", talk->heartbeat());
}

}  // namespace

std::vector<Check> stop_checks() {
  return {
      {"cancel.polite", "A cancel asks politely first, and what the command makes of that counts.",
       judged<judge_polite>},
      {"cancel.ladder", "Who ignores it is killed two seconds later, within the broker's three.",
       judged<judge_ladder>},
      {"cancel.repeated", "Asking again moves no deadline.", judged<judge_repeated>},
      {"cancel.idle", "A cancel with nothing running has no effect and no answer.",
       judged<judge_idle>},
      {"cancel.at-once", "A cancel right behind its start stops it.", judged<judge_at_once>},
      {"cancel.body", "Nobody looks at the body of a cancel.", judged<judge_body>},
      {"cancel.wall", "The wall clock climbs the same ladder and is told apart.",
       judged<judge_wall>},
      {"heartbeat.prompt", "A heartbeat is echoed at once, also during a run and on the ladder.",
       judged<judge_heartbeat>},
  };
}

}  // namespace loom::conformance
