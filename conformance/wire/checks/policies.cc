#include <algorithm>

#include "../session.h"

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxPolicyBytes = 1'048'576;

struct Case {
  const char* name;  // "": not demanded of the refusal's text
  Json policy;
};

std::vector<Case> wrong_policies(const Session& session) {
  const Json& good = session.policy;
  const auto mount = [&](const char* key, const Json& value) {
    const Json one = with({{"path", "/usr"}, {"access", "ro"}, {"required", true}}, key, value);
    return with(good, "mounts", Json::array({one}));
  };
  const auto network = [&](const Json& value) { return with(good, "network", value); };
  std::vector<Case> cases = {
      {"", Json(5)},
      {"more", with(good, "more", 1)},
      {"v", with(good, "v", "2")},
      {"", with(good, "v", 1)},
      {"", with(good, "v", 9)},
      {"readable_roots", with(good, "readable_roots", "/usr")},
      {"protected", with(good, "protected", nullptr)},
      {"env_allow", with(good, "env_allow", Json::array({1}))},
      {"etc", with(good, "protected", Json::array({"etc"}))},
      {"half", network({{"mode", "half"}})},
      {"allow", network({{"mode", "off"}, {"allow", Json::array()}})},
      {"mode", network(Json::object())},
      {"limits", with(good, "limits", 5)},
      {"more", with(good, "limits", with(good["limits"], "more", 1))},
      {"pids", with(good, "limits", without(good["limits"], "pids"))},
      {"pids", with(good, "limits", with(good["limits"], "pids", -1))},
      {"pids", with(good, "limits", with(good["limits"], "pids", 1.0))},
      {"scratch", with(good, "scratch", "")},
      {"ramdisk", with(good, "scratch", "ramdisk")},
      {"mounts", with(good, "mounts", Json::object())},
      {"more", mount("more", 1)},
      {"path", mount("path", 5)},
      {"usr", mount("path", "usr")},
      {"/usr/", mount("path", "/usr/")},
      {"/usr/../etc", mount("path", "/usr/../etc")},
      {"rx", mount("access", "rx")},
      {"required", mount("required", 1)},
      {"/usr/share", with(mount("access", "ro"), "protected", Json::array({"/usr/share"}))},
      {"covers", mount("path", session.place->at("work"))},
      {"exec", with(good, "exec", nullptr)},
  };
  for (const char* const key : {"env_allow", "limits", "mounts", "network", "protected",
                                "readable_roots", "scratch", "v", "writable_roots"}) {
    cases.push_back({key, without(good, key)});
  }
  return cases;
}

Result<void> judge_strict(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (const Case& one : wrong_policies(session)) {
    const Json start = with(shell("echo ran"), "policy", one.policy);
    LOOM_TRY_VOID(named("policy " + one.policy.dump(),
                        refuses(*talk, "exec_start", start, "bad_policy", one.name)));
  }
  LOOM_TRY(const Run run, talk->execute(with(shell("echo ran"), "policy", session.policy)));
  return named("the same policy unharmed", came_to(run, 0, "ran\n"));
}

// A map with a key twice is made by no encoder: the last key of a policy is written once more.
Result<void> judge_repeated(const Session& session) {
  std::string policy = pack(session.policy);
  policy[0] = static_cast<char>(policy[0] + 1);
  policy += std::string("\xa1v\x02");
  LOOM_TRY(const auto talk, session.open());
  std::string body = pack(shell("echo ran"));
  body[0] = static_cast<char>(body[0] + 1);
  body += "\xa6policy" + policy;
  std::string frame =
      pack({{"v", 1}, {"id", 50}, {"kind", "exec_start"}, {"body", Json::object()}});
  frame.pop_back();
  LOOM_TRY_VOID(talk->send_bytes(frame_of(frame + body)));
  LOOM_TRY(const std::string text, talk->expect_error("bad_policy", 50));
  return still_runs(*talk);
}

// No frame, a status that is not 0, and a line for the log.
Result<void> fails_at_start(const Session& session, const std::optional<std::string>& policy) {
  LOOM_TRY(const auto talk, Conversation::start(session.subject, {.policy = policy}));
  LOOM_TRY_VOID(talk->expect_end(Conversation::kAnyFailure));
  return demand(!talk->log().empty(), "it ends without a word on stderr");
}

Result<void> judge_base(const Session& session) {
  const std::string good = pack(session.policy);
  struct Bytes {
    const char* name;
    std::optional<std::string> bytes;
  };
  const Bytes cases[] = {
      {"not open", std::nullopt},
      {"empty", ""},
      {"garbage", "\xc1\xff garbage"},
      {"a list", pack(Json::array({1}))},
      {"cut", good.substr(0, good.size() - 1)},
      {"bytes behind the map", good + '\0'},
      {"of version 1", pack(with(session.policy, "v", 1))},
      {"a key missing", pack(without(session.policy, "limits"))},
      {"a key more", pack(with(session.policy, "more", 1))},
  };
  for (const Bytes& one : cases) {
    LOOM_TRY_VOID(
        named(std::string("descriptor 3 ") + one.name, fails_at_start(session, one.bytes)));
  }
  LOOM_TRY(const auto talk, session.open());
  return still_runs(*talk);
}

Result<void> judge_size(const Session& session) {
  const auto sized = [&](std::size_t total) {
    const auto padded = [&](std::size_t size) {
      return pack(with(session.policy, "env_allow", Json::array({std::string(size, 'x')})));
    };
    return padded(total - (padded(70'000).size() - 70'000));
  };
  {
    LOOM_TRY(const auto talk,
             Conversation::start(session.subject, {.policy = sized(kMaxPolicyBytes)}));
    LOOM_TRY(const Frame hello, talk->receive(kHelloPatience));
  }
  return named("one byte more than 1 MiB", fails_at_start(session, sized(kMaxPolicyBytes + 1)));
}

Result<void> judge_inline(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  const Json env = {{"LOOM_X", "1"}};
  const Json start = with(shell("echo ${LOOM_X-unset}; head -c 20 /dev/zero"), "env", env);
  const Json own = limited(with(session.policy, "env_allow", Json::array({"LOOM_X", "PATH"})),
                           "output_bytes", 8);
  const std::string zeros(20, '\0');
  LOOM_TRY(const Run base, talk->execute(start));
  LOOM_TRY_VOID(named("the base policy", came_to(base, 0, "unset\n" + zeros)));
  LOOM_TRY(const Run inlined, talk->execute(with(start, "policy", own)));
  LOOM_TRY_VOID(named("a policy of its own", came_to(inlined, 0, "1\n" + zeros.substr(0, 6))));
  LOOM_TRY(const Run nil, talk->execute(with(start, "policy", nullptr)));
  return named("a policy of nil", came_to(nil, 0, "unset\n" + zeros));
}

Result<void> judge_third(const Session& session) {
  const Json third = with(session.policy, "v", 3);
  LOOM_TRY(const auto talk, session.open());
  if (!talk->lists("policy-v3")) {
    session.judgement.remark("policy-v3 is not listed: documents of version 3 must be refused");
    const Json start = with(shell("true"), "policy", with(third, "exec", nullptr));
    return refuses(*talk, "exec_start", start, "bad_policy");
  }
  const Json exec = {{"default", "allow"},  {"allow", Json::array()}, {"deny", Json::array()},
                     {"support", "system"}, {"memfd", "any"},         {"required", false}};
  const Case cases[] = {{"exec", third},
                        {"exec", with(third, "exec", 5)},
                        {"more", with(third, "exec", with(exec, "more", 1))},
                        {"deny", with(third, "exec", without(exec, "deny"))},
                        {"maybe", with(third, "exec", with(exec, "default", "maybe"))}};
  for (const Case& one : cases) {
    const Json start = with(shell("true"), "policy", one.policy);
    LOOM_TRY_VOID(named("policy " + one.policy.dump(),
                        refuses(*talk, "exec_start", start, "bad_policy", one.name)));
  }
  const Json silent = with(shell("echo ran"), "policy", with(third, "exec", nullptr));
  LOOM_TRY(const Run run, talk->execute(silent));
  if (talk->lists("degraded") && run.error && (*run.error)["code"] == "spawn_failed") {
    session.judgement.remark("it is read, and refused where there is no jail: " + run.text());
    return {};
  }
  return came_to(run, 0, "ran\n");
}

}  // namespace

std::vector<Check> policy_checks() {
  return {
      {"policy.strict",
       "An inline policy with a key more, a key less, or a value of another kind is bad_policy, by "
       "name.",
       judged<judge_strict>},
      {"policy.repeated", "A policy with a key twice is bad_policy.", judged<judge_repeated>},
      {"policy.base",
       "Without a whole and sound policy on descriptor 3 there is no frame, and a status that is "
       "not 0.",
       judged<judge_base>},
      {"policy.size", "A base policy of 1 MiB is read, and one byte more is refused.",
       judged<judge_size>},
      {"policy.inline", "A start's own policy is in force for it alone; nil is the base policy.",
       judged<judge_inline>},
      {"policy.third", "Version 3 is read as strictly, and by nobody who does not list policy-v3.",
       judged<judge_third>},
  };
}

}  // namespace loom::conformance
