#include "../session.h"

namespace loom::conformance {
namespace {

Json plain() { return start_of({"/bin/true"}); }

Result<void> judge_malformed(const Session& session) {
  struct Case {
    const char* name;
    Json body;
  };
  const Case cases[] = {
      {"a number", Json(5)},
      {"a list", Json::array()},
      {"a key more", with(plain(), "more", 1)},
      {"argv missing", without(plain(), "argv")},
      {"argv empty", with(plain(), "argv", Json::array())},
      {"argv as text", with(plain(), "argv", "/bin/true")},
      {"a number in argv", with(plain(), "argv", Json::array({"/bin/true", 1}))},
      {"a NUL in argv", with(plain(), "argv", Json::array({"/bin/true", std::string("a\0b", 3)}))},
      {"env as a list", with(plain(), "env", Json::array({"PATH"}))},
      {"a number in env", with(plain(), "env", {{"PATH", 5}})},
      {"cwd as a number", with(plain(), "cwd", 5)},
      {"token missing", without(plain(), "token")},
      {"token empty", with(plain(), "token", binary(""))},
      {"token as a number", with(plain(), "token", 5)},
  };
  LOOM_TRY(const auto talk, session.open());
  for (const Case& one : cases) {
    LOOM_TRY_VOID(named(one.name, refuses(*talk, "exec_start", one.body, "malformed_frame")));
  }
  for (const Json& limits : {Json(5), Json::object(), Json("x"), Json(nullptr)}) {
    LOOM_TRY(const Run run, talk->execute(with(plain(), "limits", limits)));
    LOOM_TRY_VOID(named("the reserved key limits", came_to(run, 0, "")));
  }
  return still_runs(*talk);
}

// Each start is wrong in several ways, and the first of the order answers.
Result<void> judge_order(const Session& session) {
  const Json bad_policy = with(session.policy, "v", 9);
  const Json relative = with(with(plain(), "cwd", "relative"), "policy", bad_policy);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(named(
      "no argv and a bad policy",
      refuses(*talk, "exec_start", with(relative, "argv", Json::array()), "malformed_frame")));
  LOOM_TRY_VOID(
      named("no token and a bad policy",
            refuses(*talk, "exec_start", with(relative, "token", binary("")), "malformed_frame")));
  LOOM_TRY_VOID(named("a bad policy and a bad directory",
                      refuses(*talk, "exec_start", relative, "bad_policy")));
  LOOM_TRY(Run run, running(*talk, shell(kWaits)));
  for (const Json& garbage : {Json(5), with(plain(), "more", 1), relative}) {
    LOOM_TRY_VOID(named("garbage during a run", refuses(*talk, "exec_start", garbage, "busy")));
  }
  LOOM_TRY_VOID(talk->cancel(run));
  return ends_cancelled(*talk, run);
}

Result<void> judge_busy(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell("echo up; read line; echo got $line; exit 4")));
  const std::string mark = session.place->at("work/second");
  for (int round = 0; round < 3; ++round) {
    LOOM_TRY_VOID(refuses(*talk, "exec_start", shell("touch " + mark), "busy"));
  }
  LOOM_TRY(const std::uint64_t fed, talk->feed("text\n", true));
  static_cast<void>(fed);
  LOOM_TRY_VOID(talk->settle(run));
  LOOM_TRY_VOID(came_to(run, 4, "up\ngot text\n"));
  LOOM_TRY_VOID(still_runs(*talk));
  return demand(!session.place->has("work/second"), "a start that was refused ran after all");
}

Result<void> judge_refusal(const Session& session) {
  const std::string absent = session.place->at("absent");
  const auto mounts = [&](bool required) {
    return with(session.policy, "mounts",
                Json::array({{{"path", absent}, {"access", "ro"}, {"required", required}}}));
  };
  LOOM_TRY(const auto talk, session.open());
  const Json start = shell("echo ran");
  LOOM_TRY_VOID(named(
      "a required mount that is absent",
      refuses(*talk, "exec_start", with(start, "policy", mounts(true)), "spawn_failed", absent)));
  LOOM_TRY(const Run optional, talk->execute(with(start, "policy", mounts(false))));
  LOOM_TRY_VOID(named("the same mount, optional", came_to(optional, 0, "ran\n")));
  for (const std::string& cwd : {std::string("relative"), std::string(5'000, '/') + "d",
                                 session.place->at("work") + std::string("\0x", 2)}) {
    LOOM_TRY_VOID(named("a directory that is none",
                        refuses(*talk, "exec_start", with(start, "cwd", cwd), "spawn_failed")));
  }
  LOOM_TRY(const Run inside, talk->execute(with(shell("pwd"), "cwd", session.place->at("work"))));
  return came_to(inside, 0, session.place->at("work") + "\n");
}

Result<void> judge_command(const Session& session) {
  const std::vector<std::string> words = {"",   " ",  "a b", "$HOME", "*",
                                          "\"", "\\", "ü",   "-n",    "\n"};
  std::vector<std::string> argv = {"/bin/sh", "-c", "printf '%s|' \"$@\"", "zero"};
  argv.insert(argv.end(), words.begin(), words.end());
  std::string due;
  for (const std::string& word : words) due += word + "|";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(start_of(argv)));
  LOOM_TRY_VOID(named("words of any kind", came_to(run, 0, due)));
  LOOM_TRY(const Run bytes, talk->execute(with(plain(), "argv",
                                               Json::array({"/bin/sh", "-c", "printf %s \"$1\"",
                                                            "zero", binary("\xff\xfe")}))));
  LOOM_TRY_VOID(named("bytes that are no text", came_to(bytes, 0, "\xff\xfe")));
  LOOM_TRY(const Run root, talk->execute(shell("pwd")));
  return named("without a directory", came_to(root, 0, "/\n"));
}

Result<void> judge_environment(const Session& session) {
  const Json policy =
      with(session.policy, "env_allow", Json::array({"LOOM_A", "LOOM_B", "LOOM_EMPTY"}));
  const Json env = {
      {"LOOM_B", "2 $x"}, {"LOOM_A", "1"}, {"LOOM_EMPTY", ""}, {"LOOM_OTHER", "3"}, {"HOME", "/x"}};
  const Json start = with(with(start_of({"/usr/bin/env", "-0"}), "env", env), "policy", policy);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(start));
  return came_to(run, 0, std::string("LOOM_A=1\0LOOM_B=2 $x\0LOOM_EMPTY=\0", 33));
}

Result<void> judge_descriptors(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  // ls itself holds the directory that it reads.
  LOOM_TRY(const Run run, talk->execute(start_of({"/bin/ls", "/proc/self/fd"})));
  return came_to(run, 0, "0\n1\n2\n3\n");
}

Result<void> judge_again(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (int round = 0; round < 30; ++round) {
    const std::string text = std::to_string(round);
    LOOM_TRY(const Run run, talk->execute(shell("echo " + text)));
    LOOM_TRY_VOID(named("start " + text, came_to(run, 0, text + "\n")));
  }
  return {};
}

}  // namespace

std::vector<Check> start_checks() {
  return {
      {"start.malformed",
       "A start that does not decode, or lacks argv or token, is refused under its id, and the "
       "channel kept.",
       judged<judge_malformed>},
      {"start.order",
       "The first check that fails answers: busy, decoding, argv, token, policy, start.",
       judged<judge_order>},
      {"start.busy", "A start during a run is refused as busy, and the run goes on.",
       judged<judge_busy>},
      {"start.refusal", "What cannot be started is spawn_failed, by name, before anything runs.",
       judged<judge_refusal>},
      {"start.command", "The command gets its words and its directory as they were sent.",
       judged<judge_command>},
      {"start.environment",
       "The command's environment is what was asked for and the policy allows.",
       judged<judge_environment>},
      {"start.descriptors", "A command holds its three streams and no other descriptor.",
       judged<judge_descriptors>},
      {"start.again", "A start at the moment of the exit frame is never busy.",
       judged<judge_again>},
  };
}

}  // namespace loom::conformance
