#include <loom/codec.h>
#include <loom/value.h>

#include "../scene.h"

namespace loom::conformance {
namespace {

enum class Change { kNone, kUnknownKey, kMissingKey, kWrongType, kRepeatedKey };

struct Edit {
  Change change = Change::kNone;
  std::size_t map = 0;  // which map, counted in the order in which they are written
  std::size_t key = 0;  // which of its keys
};

// Writes a value once more, with one edit in it.
class Rewriter {
 public:
  explicit Rewriter(Edit edit) : edit_(edit) {}

  void write(const Value& value) {
    switch (value.kind) {
      case Value::Kind::kMap:
        return write_map(value);
      case Value::Kind::kArray:
        out_.array(value.items.size());
        for (const Value& item : value.items) write(item);
        return;
      case Value::Kind::kNil:
      case Value::Kind::kUnusable:
        return out_.nil();
      case Value::Kind::kBoolean:
        return out_.boolean(value.boolean);
      case Value::Kind::kUnsigned:
        return out_.number(value.unsigned_number);
      case Value::Kind::kNegative:
        return out_.signed_number(value.negative_number);
      case Value::Kind::kFloat:
        return out_.nil();  // no value that crosses has one
      case Value::Kind::kText:
        return out_.text(value.bytes);
      case Value::Kind::kBinary:
        return out_.binary(as_bytes(value.bytes));
    }
  }

  [[nodiscard]] Bytes take() { return out_.take(); }
  [[nodiscard]] std::size_t maps() const noexcept { return maps_; }

 private:
  void write_map(const Value& map) {
    const bool here = maps_++ == edit_.map && edit_.change != Change::kNone;
    const std::size_t keys = map.items.size() / 2;
    const std::size_t chosen = here && keys > 0 ? edit_.key % keys : keys;
    const bool longer =
        here && (edit_.change == Change::kUnknownKey || edit_.change == Change::kRepeatedKey);
    const bool shorter = here && edit_.change == Change::kMissingKey && keys > 0;
    out_.map(keys + (longer ? 1 : 0) - (shorter ? 1 : 0));
    for (std::size_t i = 0; i < keys; ++i) {
      if (i == chosen && shorter) continue;
      write(map.items[2 * i]);
      if (i == chosen && edit_.change == Change::kWrongType) {
        out_.map(0);
      } else {
        write(map.items[2 * i + 1]);
      }
    }
    if (!longer) return;
    edit_.change == Change::kUnknownKey ? out_.text("conformance_unknown")
                                        : write(map.items.front());
    out_.nil();
  }

  Edit edit_;
  ValueWriter out_;
  std::size_t maps_ = 0;
};

struct Input {
  Verb verb;
  Bytes bytes;
};

// One sound input for each verb that takes one.
std::vector<Input> sound_inputs(const Scene& scene, Judgement& judgement) {
  Policy policy = masked_policy(scene);
  policy.readable_roots = {scene.place().path("read")};
  const auto request = scene.question(policy);
  if (!request) {
    judgement.breach("survey of a plain policy: " + request.error().message);
    return {};
  }
  const TargetsRequest running{.rung = Rung::kTerm, .child = 1, .table = {{.pid = 1, .birth = 3}}};
  std::vector<Input> inputs = {
      {Verb::kFeatures, encode(scene.facts())},
      {Verb::kSurvey, encode(SurveyRequest{.policy = policy, .facts = scene.facts()})},
      {Verb::kProbe,
       encode(ProbeRequest{.phase = ProbePhase::kBeforeHello, .facts = scene.facts()})},
      {Verb::kPlan, encode(*request)},
      {Verb::kObserve, encode(running)},
      {Verb::kTargets, encode(running)}};
  const auto plan = scene.backend().plan(*request);
  if (!plan) {
    judgement.remark("no plan for a plain policy here: " + plan.error().message);
    return inputs;
  }
  inputs.push_back({Verb::kRender, encode(*plan)});
  inputs.push_back({Verb::kAudit, encode(*plan)});
  if (const auto launch = scene.backend().render(*plan)) {
    inputs.push_back({Verb::kStart, encode(*launch)});
  }
  return inputs;
}

void expect_refused(const Scene& scene, Verb verb, const Bytes& input, const std::string& what,
                    Judgement& judgement) {
  const Answer answer = scene.backend().call(verb, input);
  const std::string where = std::string(verb_name(verb)) + ": " + what;
  if (answer.status == 0) return judgement.breach(where + " is accepted");
  if (answer.status != 1) {
    judgement.breach(where + " is refused with status " + std::to_string(answer.status) +
                     " and not as an invalid request: " + answer.error);
  }
}

void judge_change(const Subject& subject, Judgement& judgement, Change change, const char* what) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  constexpr std::size_t kMaxMaps = 40;  // lists repeat
  for (const Input& input : sound_inputs(*scene, judgement)) {
    const auto value = parse_value(input.bytes);
    if (!value) return judgement.unjudged("own encoding: " + value.error().message);
    Rewriter counter({});
    counter.write(*value);
    for (std::size_t map = 0; map < std::min(counter.maps(), kMaxMaps); ++map) {
      const std::size_t keys = change == Change::kUnknownKey || change == Change::kRepeatedKey
                                   ? 1
                                   : (map == 0 ? value->items.size() / 2 : 2);
      for (std::size_t key = 0; key < keys; ++key) {
        Rewriter changed({.change = change, .map = map, .key = key});
        changed.write(*value);
        const Bytes bytes = changed.take();
        if (bytes == input.bytes) continue;
        expect_refused(*scene, input.verb, bytes,
                       std::string(what) + " (map " + std::to_string(map) + ", key " +
                           std::to_string(key) + ")",
                       judgement);
      }
    }
  }
  if (!scene->host().spawned.empty()) judgement.breach("start spawned what it should have refused");
}

void judge_unknown_keys(const Subject& subject, Judgement& judgement) {
  judge_change(subject, judgement, Change::kUnknownKey, "an unknown key");
}
void judge_missing_keys(const Subject& subject, Judgement& judgement) {
  judge_change(subject, judgement, Change::kMissingKey, "a value without one of its keys");
}
void judge_wrong_types(const Subject& subject, Judgement& judgement) {
  judge_change(subject, judgement, Change::kWrongType, "a map where something else is due");
}
void judge_repeated_keys(const Subject& subject, Judgement& judgement) {
  judge_change(subject, judgement, Change::kRepeatedKey, "a repeated key");
}

// A version nobody has defined.
void judge_versions(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  for (const Input& input : sound_inputs(*scene, judgement)) {
    auto value = parse_value(input.bytes);
    if (!value || value->items.size() < 2 || value->items[0].bytes != "v") {
      return judgement.unjudged("own encoding does not begin with its version");
    }
    for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{kValueVersion + 1}}) {
      value->items[1].unsigned_number = version;
      Rewriter writer({});
      writer.write(*value);
      expect_refused(*scene, input.verb, writer.take(), "version " + std::to_string(version),
                     judgement);
    }
  }
}

template <class T>
void expect_canonical(const Scene& scene, Verb verb, const Bytes& input,
                      Result<T> (*decode)(ByteView), Judgement& judgement) {
  const Answer answer = scene.backend().call(verb, input);
  if (answer.status != 0) return;
  const std::string name(verb_name(verb));
  const auto value = decode(answer.out);
  if (!value) return judgement.breach(name + ": unreadable answer: " + value.error().message);
  if (encode(*value) != answer.out) {
    judgement.breach(name + ": the answer is not in the one encoding that the value has");
  }
}

void judge_answers(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  expect_canonical(*scene, Verb::kPieces, {}, decode_pieces, judgement);
  for (const Input& input : sound_inputs(*scene, judgement)) {
    switch (input.verb) {
      case Verb::kFeatures:
        expect_canonical(*scene, input.verb, input.bytes, decode_features, judgement);
        break;
      case Verb::kSurvey:
        expect_canonical(*scene, input.verb, input.bytes, decode_survey, judgement);
        break;
      case Verb::kPlan:
        expect_canonical(*scene, input.verb, input.bytes, decode_jail_plan, judgement);
        break;
      case Verb::kRender:
        expect_canonical(*scene, input.verb, input.bytes, decode_launch_spec, judgement);
        break;
      case Verb::kAudit:
        expect_canonical(*scene, input.verb, input.bytes, decode_audit, judgement);
        break;
      case Verb::kStart:
        expect_canonical(*scene, input.verb, input.bytes, decode_start_result, judgement);
        break;
      case Verb::kTargets:
        expect_canonical(*scene, input.verb, input.bytes, decode_targets, judgement);
        break;
      case Verb::kObserve:
        if (scene->backend().call(input.verb, input.bytes).out_bytes != 0) {
          judgement.breach("observe: an answer where none is due");
        }
        break;
      case Verb::kPieces:
      case Verb::kProbe:
        break;
    }
  }
}

}  // namespace

std::vector<Check> codec_checks() {
  return {
      {"codec.answers", "Every answer decodes strictly, and is encoded the one way there is.",
       judge_answers},
      {"codec.unknown-keys",
       "An unknown key is refused, never skipped: ignoring a restriction is how sandboxes leak.",
       judge_unknown_keys, 120},
      {"codec.missing-keys", "A value that lacks a key is refused.", judge_missing_keys, 120},
      {"codec.wrong-types", "A field of another type is refused.", judge_wrong_types, 120},
      {"codec.repeated-keys", "A key that comes twice is refused.", judge_repeated_keys, 120},
      {"codec.versions", "A value of an unknown version is refused.", judge_versions},
  };
}

}  // namespace loom::conformance
