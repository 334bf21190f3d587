#include <thread>

#include "../session.h"

namespace loom::conformance {
namespace {

// Says numbered lines: whatever is lost, doubled or out of place shows.
constexpr int kLines = 40'000;
std::string numbered(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) text += std::to_string(i) + "\n";
  return text;
}

Result<void> judge_whole(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run many, talk->execute(shell("seq " + std::to_string(kLines) + "; exit 5")));
  LOOM_TRY_VOID(named("a long output", came_to(many, 5, numbered(kLines))));
  // What is printed last races with the end.
  for (int round = 0; round < 30; ++round) {
    LOOM_TRY(const Run last,
             talk->execute(shell("head -c 70000 /dev/zero; echo; echo last words")));
    const bool whole = last.out.size() == 70'012 && last.out.ends_with("\nlast words\n");
    LOOM_TRY_VOID(demand(whole, "the last words are missing: " + std::to_string(last.out.size()) +
                                    " of 70012 bytes"));
  }
  LOOM_TRY(const Run none, talk->execute(shell("true")));
  return demand(none.chunks == 0, "a silent command has output: " + none.text());
}

Result<void> judge_bytes(const Session& session) {
  std::string all;
  for (int i = 0; i < 256 * 300; ++i) all += static_cast<char>(i);
  LOOM_TRY_VOID(session.place->write("work/data", all));
  LOOM_TRY(const auto talk, session.open());
  const std::string file = session.place->at("work/data");
  LOOM_TRY(const Run run, talk->execute(shell("cat " + file + "; cat " + file + " >&2")));
  LOOM_TRY_VOID(demand(run.out == all, "stdout is not what was printed"));
  return demand(run.err == all, "stderr is not what was printed");
}

Result<void> judge_apart(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(shell("echo hello; echo problem >&2; echo more; exit 42")));
  LOOM_TRY_VOID(came_to(run, 42, "hello\nmore\n"));
  return demand(run.err == "problem\n", "stderr is something else: " + run.text());
}

Result<void> judge_prompt(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, talk->begin(shell("echo up; read line; echo $line")));
  LOOM_TRY_VOID(talk->until(run, "up\n"));
  LOOM_TRY(const std::uint64_t fed, talk->feed("and on\n", true));
  static_cast<void>(fed);
  LOOM_TRY_VOID(talk->settle(run));
  return came_to(run, 0, "up\nand on\n");
}

Result<void> judge_cap(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  const auto capped = [&](std::uint64_t cap, const std::string& script) {
    return talk->execute(
        with(shell(script), "policy", limited(session.policy, "output_bytes", cap)));
  };
  LOOM_TRY(const Run exact, capped(4096, "head -c 4096 /dev/zero"));
  LOOM_TRY_VOID(demand(exact.out.size() == 4096 && !exact.out_cut,
                       "output of exactly the cap is cut: " + exact.text().substr(0, 300)));
  LOOM_TRY(const Run over, capped(4096, "head -c 4097 /dev/zero; echo line >&2; exit 6"));
  LOOM_TRY_VOID(demand(over.out.size() == 4096 && over.out_cut && over.code() == 6,
                       "output of one byte more than the cap is not cut at it: " +
                           std::to_string(over.out.size()) + " bytes"));
  LOOM_TRY_VOID(demand(over.err == "line\n" && !over.err_cut, "the other stream suffered"));
  LOOM_TRY(const Run flood, capped(10, "head -c 20000000 /dev/zero; exit 7"));
  return demand(flood.out.size() == 10 && flood.code() == 7,
                "a command that is cut does not run on to its end");
}

constexpr std::size_t kMostUnderWay = 16U << 20U;

Result<void> judge_back_pressure(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, talk->begin(shell("exec cat /dev/zero")));
  std::this_thread::sleep_for(Millis(1'500));
  const std::string words = envelope(run.id, "cancel", Json::object());
  LOOM_TRY(const std::size_t taken, talk->push(words, kPatience, false));
  LOOM_TRY_VOID(demand(taken == words.size(), "a cancel is not taken while output is unread"));
  std::this_thread::sleep_for(Millis(500));
  LOOM_TRY_VOID(ends_cancelled(*talk, run));
  return demand(run.out.size() <= kMostUnderWay,
                "a broker that did not read for two seconds was owed " +
                    std::to_string(run.out.size()) + " bytes");
}

// What may be under way before an echo: bytes and not seconds, which a busy machine has too few of.
Result<void> echoes(Conversation& talk, Run& run) {
  const std::size_t before = run.out.size();
  LOOM_TRY(const std::uint64_t id, talk.send("heartbeat", Json::object()));
  for (;;) {
    LOOM_TRY(const Frame frame, talk.receive());
    if (frame.kind == "heartbeat" && frame.id == id) break;
    LOOM_TRY_VOID(run.take(frame));
  }
  const std::size_t passed = run.out.size() - before;
  return demand(passed <= kMostUnderWay,
                "an echo came behind " + std::to_string(passed) + " bytes of output");
}

Result<void> judge_flood(const Session& session) {
  constexpr std::size_t kFlood = 100'000'000;
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, talk->begin(shell("head -c 100000000 /dev/zero; exit 3")));
  for (int asked = 0; asked < 10 && run.out.size() < kFlood / 2; ++asked) {
    LOOM_TRY_VOID(echoes(*talk, run));
  }
  LOOM_TRY_VOID(talk->settle_slowly(run));
  LOOM_TRY_VOID(demand(run.out.size() == kFlood,
                       "of 100,000,000 bytes came " + std::to_string(run.out.size())));
  return demand(run.code() == 3, "the flood did not end by itself: " + run.text().substr(0, 300));
}

// After the exit frame come only answers.
Result<void> judge_exit_last(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (int round = 0; round < 5; ++round) {
    LOOM_TRY(const Run run, talk->execute(shell("echo a; echo b >&2; exit 9")));
    LOOM_TRY_VOID(came_to(run, 9, "a\n"));
    LOOM_TRY_VOID(demand(run.err == "b\n", "stderr is not there: " + run.text()));
    LOOM_TRY_VOID(talk->heartbeat());
    LOOM_TRY_VOID(talk->heartbeat());
  }
  LOOM_TRY_VOID(demand(talk->silent_for(Millis(400)), "something comes after the end"));
  return talk->shut_down();
}

Result<void> judge_left_behind(const Session& session) {
  // It holds stdout until the end has come, and has something to say then.
  const std::string gate = session.place->at("work/gate");
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, talk->begin(shell("(until [ -e " + gate +
                                      " ]; do sleep 0.05; done; echo late) & echo done; exit 3")));
  LOOM_TRY_VOID(named("with a process left that holds stdout", talk->settle(run, kAnswerPatience)));
  LOOM_TRY_VOID(came_to(run, 3, "done\n"));
  LOOM_TRY_VOID(session.place->write("work/gate", ""));
  LOOM_TRY_VOID(demand(talk->silent_for(Millis(1'000)), "something comes after the end"));
  return still_runs(*talk);
}

}  // namespace

std::vector<Check> output_checks() {
  return {
      {"output.whole", "Output comes whole and in order, and all of it before the exit frame.",
       judged<judge_whole>},
      {"output.bytes", "Any bytes travel unchanged, on either stream.", judged<judge_bytes>},
      {"output.apart", "The two streams stay apart.", judged<judge_apart>},
      {"output.prompt", "Output comes while the command runs.", judged<judge_prompt>},
      {"output.cap",
       "A stream's cap cuts exactly there, tells it once, and neither stops nor blocks the "
       "command.",
       judged<judge_cap>},
      {"output.back-pressure",
       "A broker that does not read holds up the command and not the helper, which stays bounded "
       "and "
       "hears a cancel.",
       judged<judge_back_pressure>},
      {"output.flood", "Heartbeats are echoed during a flood, and the flood is whole.",
       judged<judge_flood>, 300},
      {"output.exit-last", "The exit frame comes once, and nothing under its id after it.",
       judged<judge_exit_last>},
      {"output.left-behind",
       "A process that a command left behind with its stdout delays nothing and adds nothing.",
       judged<judge_left_behind>},
  };
}

}  // namespace loom::conformance
