#include <thread>

#include "../session.h"

namespace loom::conformance {
namespace {

constexpr std::size_t kMebibyte = 1U << 20U;

// Feeds, and drops the id that nobody needs.
Result<void> give(Conversation& talk, std::string_view data, bool eof = false) {
  LOOM_TRY(const std::uint64_t id, talk.feed(data, eof));
  static_cast<void>(id);
  return {};
}

Result<void> judge_whole(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  std::string all;
  LOOM_TRY(Run run, talk->begin(start_of({"/bin/cat"})));
  for (int round = 0; round < 60; ++round) {
    std::string chunk(static_cast<std::size_t>(round) * 97, '\0');
    for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] = static_cast<char>(i * 7 + all.size());
    all += chunk;
    LOOM_TRY_VOID(give(*talk, chunk, round == 59));
  }
  LOOM_TRY_VOID(talk->settle(run));
  return demand(run.out == all, "of " + std::to_string(all.size()) + " bytes of input came back " +
                                    std::to_string(run.out.size()) + ", or others");
}

Result<void> judge_end(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell("echo up; cat; echo end")));
  LOOM_TRY_VOID(demand(talk->silent_for(Millis(300)), "the command's stdin has ended by itself"));
  LOOM_TRY_VOID(give(*talk, ""));
  LOOM_TRY_VOID(give(*talk, "x"));
  LOOM_TRY_VOID(give(*talk, "", true));
  LOOM_TRY_VOID(talk->settle(run));
  return came_to(run, 0, "up\nxend\n");
}

Result<void> judge_refusals(const Session& session) {
  const Json chunk = {{"data", binary("x")}, {"eof", false}};
  LOOM_TRY(const auto talk, session.open());
  for (const Json& body : {chunk, Json(5), Json::object({{"no", "such"}})}) {
    LOOM_TRY_VOID(named("before any execution", refuses(*talk, "exec_stdin", body, "no_exec")));
  }
  LOOM_TRY_VOID(still_runs(*talk));
  LOOM_TRY_VOID(named("after an execution", refuses(*talk, "exec_stdin", chunk, "no_exec")));
  LOOM_TRY(Run run, talk->begin(shell("cat; echo up; sleep 0.5; exit 4")));
  LOOM_TRY_VOID(give(*talk, "one ", true));
  LOOM_TRY_VOID(talk->until(run, "up\n"));
  LOOM_TRY_VOID(named("after eof", refuses(*talk, "exec_stdin", chunk, "no_exec")));
  LOOM_TRY_VOID(talk->settle(run));
  return came_to(run, 4, "one up\n");
}

// The chunk whose write breaks is accepted; the next one is told.
Result<void> judge_broken(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell("exec 0<&-; echo up; exec sleep 600")));
  LOOM_TRY_VOID(give(*talk, "nobody reads this"));
  LOOM_TRY_VOID(talk->heartbeat());
  std::this_thread::sleep_for(Millis(300));
  const Json chunk = {{"data", binary("nor this")}, {"eof", false}};
  LOOM_TRY_VOID(refuses(*talk, "exec_stdin", chunk, "no_exec"));
  LOOM_TRY_VOID(refuses(*talk, "exec_stdin", chunk, "no_exec"));
  LOOM_TRY_VOID(talk->cancel(run));
  return ends_cancelled(*talk, run);
}

Result<void> judge_malformed(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell("echo up; cat")));
  const Json good = {{"data", binary("")}, {"eof", false}};
  for (const Json& body : {Json(5), with(good, "more", 1), with(good, "data", 5),
                           with(good, "data", Json::array({1})), with(good, "eof", 1)}) {
    LOOM_TRY_VOID(named(body.dump(), refuses(*talk, "exec_stdin", body, "malformed_frame")));
  }
  LOOM_TRY_VOID(give(*talk, "fine", true));
  LOOM_TRY_VOID(talk->settle(run));
  return came_to(run, 0, "up\nfine");
}

Result<void> judge_unread(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell(kWaits)));
  for (int round = 0; round < 16; ++round) {
    LOOM_TRY_VOID(give(*talk, std::string(kMebibyte, 'x')));
  }
  LOOM_TRY_VOID(named("with 16 MiB that nobody reads", talk->heartbeat()));
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
  // What was not read is dropped, and not the next command's.
  LOOM_TRY(Run next, talk->begin(start_of({"/bin/cat"})));
  LOOM_TRY_VOID(give(*talk, "own", true));
  LOOM_TRY_VOID(talk->settle(next));
  return came_to(next, 0, "own");
}

// A chunk beyond the bound waits for room, and everything arrives.
Result<void> judge_bound(const Session& session) {
  const std::string gate = session.place->at("work/gate");
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run,
           running(*talk, shell("echo up; until [ -e " + gate + " ]; do sleep 0.05; done; wc -c")));
  std::string frames;
  for (int round = 0; round < 17; ++round) {
    const Json chunk = {{"data", binary(std::string(kMebibyte, 'x'))}, {"eof", round == 16}};
    frames += envelope(talk->next_id(), "exec_stdin", chunk);
  }
  // Many more than any pipe holds: they show whether the reader waits.
  std::string behind;
  for (int i = 0; i < 40'000; ++i) behind += envelope(900, "heartbeat", Json::object());
  const std::size_t due = frames.size() - kMebibyte;
  LOOM_TRY(const std::size_t first, talk->push(frames.substr(0, due), kPatience, false));
  LOOM_TRY_VOID(
      demand(first == due, "less than 16 MiB of input is taken: " + std::to_string(first)));
  const std::string rest = frames.substr(due) + behind;
  LOOM_TRY(const std::size_t taken, talk->push(rest, Millis(3'000), false));
  LOOM_TRY_VOID(demand(taken < rest.size(), "input is taken without bound while nobody reads it"));
  LOOM_TRY_VOID(session.place->write("work/gate", ""));
  LOOM_TRY_VOID(talk->send_bytes(rest.substr(taken)));
  std::vector<Frame> others;
  LOOM_TRY_VOID(talk->settle_slowly(run, &others));
  return demand(run.out.find(std::to_string(17 * kMebibyte)) != std::string::npos,
                "17 MiB were sent, and the command read: " + run.out);
}

}  // namespace

std::vector<Check> input_checks() {
  return {
      {"stdin.whole", "Input arrives whole and in order, and ends where eof says.",
       judged<judge_whole>},
      {"stdin.end", "Without eof a command's input stays open; eof alone closes it.",
       judged<judge_end>},
      {"stdin.refusals",
       "Input before, behind and after an execution is no_exec under its own id, and the channel "
       "kept.",
       judged<judge_refusals>},
      {"stdin.broken", "A write that broke is told by the next chunk, and by each one after it.",
       judged<judge_broken>},
      {"stdin.malformed",
       "Input that does not decode is refused under its id, and the run goes on.",
       judged<judge_malformed>},
      {"stdin.unread",
       "Input that nobody reads holds up neither heartbeat nor cancel, and is dropped at the end.",
       judged<judge_unread>},
      {"stdin.bound", "16 MiB may wait; more makes the reader wait, and nothing is lost.",
       judged<judge_bound>, 300},
  };
}

}  // namespace loom::conformance
