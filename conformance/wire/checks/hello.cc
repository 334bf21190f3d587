#include <algorithm>
#include <set>

#include "../session.h"

namespace loom::conformance {
namespace {

constexpr Millis kLittleWhile{300};

Json hello_of(const Json& proto, const Json& features = Json::array()) {
  return {{"proto", proto}, {"peer", "broker"}, {"features", features}};
}

Result<void> judge_first(const Session& session) {
  LOOM_TRY(const auto talk, Conversation::start(session.subject, {.policy = pack(session.policy)}));
  LOOM_TRY(const Frame hello, talk->receive(kHelloPatience));
  LOOM_TRY_VOID(demand(hello.kind == "hello", "hello was due, and came: " + hello.text()));
  LOOM_TRY_VOID(demand(hello.body["proto"] == kProto, "proto is not 3: " + hello.text()));
  if (hello.id != 1) session.judgement.remark("its id is " + std::to_string(hello.id) + ", not 1");
  if (hello.body["peer"] != "exec-helper") {
    session.judgement.remark("it calls itself " + hello.body["peer"].dump());
  }
  return {};
}

Result<void> judge_once(const Session& session) {
  LOOM_TRY(const auto talk, session.greeted());
  LOOM_TRY_VOID(demand(talk->silent_for(kLittleWhile), "the helper speaks on after its hello"));
  for (int round = 0; round < 2; ++round) {
    LOOM_TRY_VOID(talk->send(talk->next_id(), "hello", hello_of(kProto)));
    LOOM_TRY_VOID(talk->heartbeat());
    LOOM_TRY_VOID(demand(talk->silent_for(kLittleWhile), "the helper answers a hello"));
  }
  return still_runs(*talk);
}

Result<void> refuses_stranger(const Session& session, std::string_view kind) {
  constexpr std::uint64_t kId = 41;
  LOOM_TRY(const auto talk, session.greeted());
  LOOM_TRY_VOID(talk->send_bytes(envelope(kId, kind, Json::object()) +
                                 envelope(42, "hello", hello_of(kProto)) +
                                 envelope(43, "heartbeat", Json::object())));
  LOOM_TRY(const std::string text, talk->expect_error("proto_mismatch", kId));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_before_anything(const Session& session) {
  for (const char* const kind :
       {"heartbeat", "exec_start", "exec_stdin", "cancel", "shutdown", "no_such_kind"}) {
    LOOM_TRY_VOID(named(kind, refuses_stranger(session, kind)));
  }
  return {};
}

Result<void> refuses_proto(const Session& session, int proto) {
  LOOM_TRY(const auto talk, session.greeted());
  LOOM_TRY_VOID(talk->send(11, "hello", hello_of(proto)));
  LOOM_TRY(const std::string text, talk->expect_error("proto_mismatch", 11));
  const bool both = text.find(std::to_string(proto)) != std::string::npos &&
                    text.find(std::to_string(kProto)) != std::string::npos;
  LOOM_TRY_VOID(demand(both, "the refusal does not name both numbers: " + text));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_versions(const Session& session) {
  for (const int proto : {2, 4, 0}) {
    LOOM_TRY_VOID(named("proto " + std::to_string(proto), refuses_proto(session, proto)));
  }
  LOOM_TRY(const auto talk, session.open());
  return still_runs(*talk);
}

Result<void> refuses_hello(const Session& session, const Json& body) {
  LOOM_TRY(const auto talk, session.greeted());
  LOOM_TRY_VOID(talk->send(12, "hello", body));
  LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", 12));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_malformed(const Session& session) {
  const Json bodies[] = {hello_of("3"),
                         hello_of(3.0),
                         hello_of(kProto, Json::object()),
                         hello_of(kProto, Json::array({1})),
                         with(hello_of(kProto), "peer", 5),
                         with(hello_of(kProto), "more", 1),
                         Json::array({kProto, "broker", Json::array()}),
                         Json(5)};
  for (const Json& body : bodies) LOOM_TRY_VOID(named(body.dump(), refuses_hello(session, body)));
  return {};
}

Result<void> judge_malformed_later(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell(kWaits)));
  LOOM_TRY_VOID(talk->send(77, "hello", hello_of(Json::array())));
  std::vector<Frame> others;
  LOOM_TRY_VOID(talk->settle(run, kPatience, &others));
  LOOM_TRY_VOID(demand(run.flag("cancelled"), "the execution was not cancelled: " + run.text()));
  const bool told = others.size() == 1 && others[0].kind == "error" && others[0].id == 77 &&
                    others[0].body["code"] == "malformed_frame";
  LOOM_TRY_VOID(demand(told, "one malformed_frame with the hello's id was due"));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_features(const Session& session) {
  LOOM_TRY(const auto talk, session.open({"x", "protocol-credit-v1", "ünï"}));
  const auto& list = talk->features();
  const std::set<std::string> distinct(list.begin(), list.end());
  LOOM_TRY_VOID(demand(distinct.size() == list.size(), "a feature stands twice in the hello"));
  LOOM_TRY_VOID(demand(distinct.count("protocol-credit-v1") == 0,
                       "protocol-credit-v1 is listed, which is no part of proto 3"));
  LOOM_TRY_VOID(
      demand(distinct.count("platform-unsupported") == 0 || distinct.count("degraded") > 0,
             "platform-unsupported comes without degraded"));
  LOOM_TRY_VOID(demand(distinct.count("bwrap") == 0 || distinct.count("degraded") == 0,
                       "bwrap and degraded are both listed"));
  return still_runs(*talk);
}

// The conversation itself refuses a key that was not agreed on, and misses one that was.
Result<void> keeps_terms(const Session& session, const std::vector<std::string>& first,
                         const std::vector<std::string>& second) {
  LOOM_TRY(const auto talk, session.open(first));
  LOOM_TRY_VOID(talk->send(talk->next_id(), "hello", hello_of(kProto, second)));
  LOOM_TRY(const Run run, talk->execute(shell("exit 3")));
  LOOM_TRY_VOID(came_to(run, 3, ""));
  return refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed");
}

Result<void> judge_negotiation(const Session& session) {
  const std::vector<std::string> all = {std::string(kOutcome), std::string(kDenial)};
  LOOM_TRY_VOID(named("nothing listed by the broker", keeps_terms(session, {}, {})));
  LOOM_TRY_VOID(named("both features listed", keeps_terms(session, all, all)));
  LOOM_TRY_VOID(named("listed by the first hello only", keeps_terms(session, all, {})));
  return named("listed by a further hello only", keeps_terms(session, {}, all));
}

}  // namespace

std::vector<Check> hello_checks() {
  return {
      {"hello.first",
       "The helper says hello by itself, as its first frame, within five seconds, with proto 3.",
       judged<judge_first>},
      {"hello.once",
       "One hello is all that comes unasked, and a further one of the broker's is harmless.",
       judged<judge_once>},
      {"hello.before-anything",
       "Any other frame before the broker's hello is a proto_mismatch under its id, and closes.",
       judged<judge_before_anything>},
      {"hello.versions", "Another proto is refused with both numbers, and closes.",
       judged<judge_versions>},
      {"hello.malformed",
       "A hello that does not decode is a malformed_frame under its id, and closes.",
       judged<judge_malformed>},
      {"hello.malformed-later",
       "So it is at any time: the running execution is cancelled, joined and reported first or "
       "after.",
       judged<judge_malformed_later>},
      {"hello.features", "The features are a list without repetition that fits proto 3.",
       judged<judge_features>},
      {"hello.negotiation",
       "A key appears when both first hellos list its feature, and otherwise never.",
       judged<judge_negotiation>},
  };
}

}  // namespace loom::conformance
