#include "../session.h"

namespace loom::conformance {
namespace {

constexpr std::uint64_t kId = 70;

// A shutdown whose body is these bytes.
std::string shutdown_with(const std::string& body) {
  std::string payload =
      pack({{"v", 1}, {"id", kId}, {"kind", "shutdown"}, {"body", Json::object()}});
  payload.pop_back();
  return frame_of(payload + body);
}

Result<void> judge_idle(const Session& session) {
  using namespace std::string_literals;
  for (const std::string& body : {"\x80"s, "\xde\0\0"s, "\xdf\0\0\0\0"s}) {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY_VOID(talk->send_bytes(shutdown_with(body)));
    LOOM_TRY_VOID(talk->expect_end(0));
  }
  return {};
}

Result<void> judge_running(const Session& session) {
  for (const char* const script : {kWaits, kDeaf}) {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY(Run run, running(*talk, shell(script)));
    LOOM_TRY_VOID(talk->send_bytes(shutdown_with("\x80")));
    LOOM_TRY_VOID(ends_cancelled(*talk, run));
    LOOM_TRY_VOID(talk->expect_end(0));
  }
  return {};
}

Result<void> judge_behind(const Session& session) {
  const std::string mark = session.place->at("work/behind");
  const std::string behind = envelope(71, "heartbeat", Json::object()) +
                             envelope(72, "exec_start", shell("touch " + mark)) +
                             envelope(73, "no_such_kind", Json::object()) + frame_of("\xc1");
  {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY_VOID(talk->send_bytes(shutdown_with("\x80") + behind));
    LOOM_TRY_VOID(named("with nothing running", talk->expect_end(0)));
  }
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell(kWaits)));
  LOOM_TRY_VOID(talk->send_bytes(shutdown_with("\x80") + behind));
  LOOM_TRY_VOID(ends_cancelled(*talk, run));
  LOOM_TRY_VOID(named("during a run", talk->expect_end(0)));
  return demand(!session.place->has("work/behind"), "a start behind a shutdown ran");
}

Result<void> refuses_shutdown(const Session& session, const std::string& body, std::uint64_t id) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(talk->send_bytes(shutdown_with(body)));
  LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", id));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_body(const Session& session) {
  LOOM_TRY_VOID(named("a full map", refuses_shutdown(session, pack({{"a", 1}}), kId)));
  LOOM_TRY_VOID(named("a list", refuses_shutdown(session, "\x90", kId)));
  LOOM_TRY_VOID(named("a number", refuses_shutdown(session, "\x05", kId)));
  LOOM_TRY_VOID(named("text", refuses_shutdown(session, "\xa0", kId)));
  return named("nil", refuses_shutdown(session, "\xc0", 0));
}

Result<void> judge_input_idle(const Session& session) {
  {
    LOOM_TRY(const auto talk, session.greeted());
    talk->close_input();
    LOOM_TRY_VOID(named("before the broker's hello", talk->expect_end(0)));
  }
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(still_runs(*talk));
  talk->close_input();
  return talk->expect_end(0);
}

Result<void> judge_input_running(const Session& session) {
  for (const char* const script : {kWaits, "echo up; exec cat /dev/zero"}) {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY(Run run, running(*talk, shell(script)));
    talk->close_input();
    LOOM_TRY_VOID(ends_cancelled(*talk, run));
    LOOM_TRY_VOID(talk->expect_end(0));
  }
  return {};
}

// The error comes first, then the exit of the run, then the end.
Result<void> judge_malformed_running(const Session& session) {
  for (const std::string& bytes : {frame_of("\xc1"), std::string(4, '\0')}) {
    LOOM_TRY(const auto talk, session.open());
    LOOM_TRY(Run run, running(*talk, shell(kWaits)));
    LOOM_TRY_VOID(talk->send_bytes(bytes));
    LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", 0));
    LOOM_TRY_VOID(ends_cancelled(*talk, run));
    LOOM_TRY_VOID(talk->expect_end(Conversation::kAnyFailure));
  }
  return {};
}

}  // namespace

std::vector<Check> ending_checks() {
  return {
      {"shutdown.idle", "A shutdown is exit 0 without a frame, and waits for no end of input.",
       judged<judge_idle>},
      {"shutdown.running",
       "A shutdown during a run ends and joins it, writes its exit frame, and is exit 0.",
       judged<judge_running>},
      {"shutdown.behind", "Nothing behind a shutdown is answered or done.", judged<judge_behind>},
      {"shutdown.body",
       "A shutdown with any other body than an empty map is malformed, and no order.",
       judged<judge_body>},
      {"end.input", "The end of input is exit 0 without a frame.", judged<judge_input_idle>},
      {"end.input-running",
       "The end of input during a run ends and joins it, writes its exit frame, and is exit 0.",
       judged<judge_input_running>},
      {"end.malformed-running",
       "A malformed frame during a run: the error, then the run's exit frame, then a status that "
       "is not 0.",
       judged<judge_malformed_running>},
  };
}

}  // namespace loom::conformance
