#include <loom/codec.h>

#include <algorithm>
#include <array>
#include <random>

#include "../scene.h"

namespace loom::conformance {
namespace {

constexpr std::array<Verb, 9> kReaders = {Verb::kFeatures, Verb::kSurvey,  Verb::kProbe,
                                          Verb::kPlan,     Verb::kRender,  Verb::kAudit,
                                          Verb::kStart,    Verb::kObserve, Verb::kTargets};

// A sound input for each verb that reads one; empty where there is none here.
std::array<Bytes, kVerbs> sound_inputs(const Scene& scene) {
  std::array<Bytes, kVerbs> inputs;
  const auto at = [&inputs](Verb verb) -> Bytes& { return inputs[static_cast<std::size_t>(verb)]; };
  const Policy policy = masked_policy(scene);
  const TargetsRequest running{.rung = Rung::kTerm, .child = 1, .table = {}};
  at(Verb::kFeatures) = encode(scene.facts());
  at(Verb::kSurvey) = encode(SurveyRequest{.policy = policy, .facts = scene.facts()});
  at(Verb::kProbe) =
      encode(ProbeRequest{.phase = ProbePhase::kBeforeHello, .facts = scene.facts()});
  at(Verb::kObserve) = encode(running);
  at(Verb::kTargets) = encode(running);
  const auto request = scene.question(policy);
  if (!request) return inputs;
  at(Verb::kPlan) = encode(*request);
  const auto plan = scene.backend().plan(*request);
  if (!plan) return inputs;
  at(Verb::kRender) = encode(*plan);
  at(Verb::kAudit) = encode(*plan);
  if (const auto launch = scene.backend().render(*plan)) at(Verb::kStart) = encode(*launch);
  return inputs;
}

// A hostile input is refused: with any of the five codes, and by a process that goes on.
void expect_refused(Scene& scene, Verb verb, ByteView input, const std::string& what,
                    Judgement& judgement) {
  const Answer answer = scene.backend().call(verb, input);
  if (answer.status < 1 || answer.status > 5) {
    judgement.breach(std::string(verb_name(verb)) + ": " + what + " is answered with status " +
                     std::to_string(answer.status));
  }
  if (!scene.host().spawned.empty()) {
    judgement.breach("start of " + what + " spawned something");
    scene.host().spawned.clear();
  }
}

void judge_truncated(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto inputs = sound_inputs(*scene);
  for (const Verb verb : kReaders) {
    const Bytes& whole = inputs[static_cast<std::size_t>(verb)];
    if (whole.empty()) continue;
    // Every place in a short value, a few hundred in a long one.
    const std::size_t stride = std::max<std::size_t>(1, whole.size() / 300);
    for (std::size_t size = 0; size < whole.size(); size += stride) {
      expect_refused(*scene, verb, ByteView(whole).first(size),
                     "an input cut after " + std::to_string(size) + " bytes", judgement);
    }
  }
}

void judge_trailing(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto inputs = sound_inputs(*scene);
  for (const Verb verb : kReaders) {
    Bytes more = inputs[static_cast<std::size_t>(verb)];
    if (more.empty()) continue;
    more.push_back(std::byte{0xC0});
    expect_refused(*scene, verb, more, "a byte behind the value", judgement);
  }
  const std::byte one{0xC0};
  expect_refused(*scene, Verb::kPieces, ByteView(&one, 1), "an input where none is due", judgement);
}

Bytes bomb(std::byte header, std::size_t size) { return Bytes(size, header); }

void judge_garbage(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  std::mt19937 random(kSeed);
  for (const Verb verb : kReaders) {
    for (int round = 0; round < 200; ++round) {
      Bytes noise(random() % 300);
      for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
      expect_refused(*scene, verb, noise, "noise " + std::to_string(round), judgement);
    }
    const std::array<std::uint8_t, 5> huge_list = {0xDD, 0xFF, 0xFF, 0xFF, 0xFF};
    const std::array<std::uint8_t, 5> huge_text = {0xDB, 0xFF, 0xFF, 0xFF, 0xFF};
    expect_refused(*scene, verb, std::as_bytes(std::span(huge_list)),
                   "a list that announces four billion items", judgement);
    expect_refused(*scene, verb, std::as_bytes(std::span(huge_text)),
                   "a text that announces four gigabytes", judgement);
    expect_refused(*scene, verb, bomb(std::byte{0x91}, 100'000), "lists within lists", judgement);
    expect_refused(*scene, verb, bomb(std::byte{0x00}, 1u << 24), "16 MiB of zeros", judgement);
  }
}

// What an edit makes of a sound value may be sound as well; the process goes on all the same, and
// whatever is answered is an answer.
void judge_flipped(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto inputs = sound_inputs(*scene);
  std::mt19937 random(kSeed);
  for (const Verb verb : kReaders) {
    const Bytes& whole = inputs[static_cast<std::size_t>(verb)];
    if (whole.empty()) continue;
    for (int round = 0; round < 400; ++round) {
      Bytes flipped = whole;
      flipped[random() % flipped.size()] ^= static_cast<std::byte>(1U << (random() % 8));
      const Answer answer = scene->backend().call(verb, flipped);
      if (answer.status < 0 || answer.status > 5) {
        judgement.breach(std::string(verb_name(verb)) +
                         ": one flipped bit is answered with status " +
                         std::to_string(answer.status));
      }
      scene->host().spawned.clear();
    }
  }
}

// As much as the largest policy document can hold.
void judge_many(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  auto request = scene->question(plain_policy(scene->place()));
  if (!request) return judgement.breach("survey of a plain policy: " + request.error().message);
  const std::string long_name(200, 'n');
  for (int i = 0; i < 4'000; ++i) {
    const auto path = scene->place().path("work/" + long_name + std::to_string(i));
    request->policy.protected_paths.push_back(path);
    request->facts.paths.push_back(
        {.path = path,
         .real = path,
         .kind = PathKind::kRegular,
         .identity = {.device = 1, .inode = 1'000ull + static_cast<unsigned>(i)},
         .parent_identity = {.device = 1, .inode = 2},
         .link_count = 1});
  }
  const Answer answer = scene->backend().call(Verb::kPlan, encode(*request));
  if (answer.out_bytes > kMaxAnswerBytes) {
    judgement.breach("plan: 4,000 protected paths make an answer of " +
                     std::to_string(answer.out_bytes) + " bytes");
  }
  if (answer.error_bytes > kMaxErrorBytes) {
    judgement.breach("plan: 4,000 protected paths make an error text of " +
                     std::to_string(answer.error_bytes) + " bytes");
  }
}

void judge_nul(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto inputs = sound_inputs(*scene);
  const std::string name = masked_policy(*scene).protected_paths.front().str();
  for (const Verb verb : {Verb::kSurvey, Verb::kPlan}) {
    Bytes input = inputs[static_cast<std::size_t>(verb)];
    const ByteView wanted = as_bytes(name);
    const auto found = std::search(input.begin(), input.end(), wanted.begin(), wanted.end());
    if (found == input.end()) continue;
    *(found + static_cast<std::ptrdiff_t>(name.size()) - 2) = std::byte{0};
    expect_refused(*scene, verb, input, "a path with a NUL in it", judgement);
  }
}

void judge_null_views(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const loom_view nothing{.data = nullptr, .size = 0};
  if (scene->backend().call(Verb::kPieces, nothing).status != 0) {
    judgement.breach("pieces: refused, though it takes no input");
  }
  for (const Verb verb : kReaders) {
    const Answer answer = scene->backend().call(verb, nothing);
    if (answer.status == 0) {
      judgement.breach(std::string(verb_name(verb)) + ": an empty input is accepted");
    }
  }
}

}  // namespace

std::vector<Check> hostile_checks() {
  return {
      {"hostile.truncated", "An input that ends too early is refused.", judge_truncated, 120},
      {"hostile.trailing", "Bytes behind a value are refused.", judge_trailing},
      {"hostile.garbage", "Noise, bombs and oversized inputs are refused.", judge_garbage, 120},
      {"hostile.flipped", "No single wrong bit ends the process.", judge_flipped, 120},
      {"hostile.many", "The largest policy gets an answer within the ceilings.", judge_many, 120},
      {"hostile.nul", "A path that holds a NUL is refused.", judge_nul},
      {"hostile.empty", "An empty view, null pointer and all, is an input like any other.",
       judge_null_views},
  };
}

}  // namespace loom::conformance
