#include <loom/codec.h>

#include <algorithm>
#include <random>

#include "../answers.h"
#include "../scene.h"

namespace loom::conformance {
namespace {

// Every pure verb, for some policies on this machine.
std::vector<Query> pure_queries(const Scene& scene, Judgement& judgement) {
  std::vector<Query> queries = {{"pieces", Verb::kPieces, {}},
                                {"features", Verb::kFeatures, encode(scene.facts())}};
  for (const NamedPolicy& named : policies_for(scene.place(), kSeed, 6)) {
    const auto request = scene.question(named.policy);
    if (!request) {
      judgement.breach("survey of \"" + named.name + "\": " + request.error().message);
      continue;
    }
    const std::string of = " of \"" + named.name + "\"";
    queries.push_back({"survey" + of, Verb::kSurvey,
                       encode(SurveyRequest{.policy = named.policy, .facts = scene.facts()})});
    queries.push_back({"plan" + of, Verb::kPlan, encode(*request)});
    const auto plan = scene.backend().plan(*request);
    if (!plan) continue;
    queries.push_back({"audit" + of, Verb::kAudit, encode(*plan)});
    queries.push_back({"render" + of, Verb::kRender, encode(*plan)});
  }
  return queries;
}

bool same(const Answer& one, const Answer& other) {
  return one.status == other.status && (one.status != 0 || one.out == other.out);
}

// Which field of a plan the difference is in, as far as that can be told.
std::string difference(const Query& query, const Answer& one, const Answer& other) {
  if (one.status != other.status) {
    return "status " + std::to_string(one.status) + ", then " + std::to_string(other.status);
  }
  const auto first =
      std::mismatch(one.out.begin(), one.out.end(), other.out.begin(), other.out.end());
  const auto at = static_cast<std::size_t>(first.first - one.out.begin());
  std::string where = "from byte " + std::to_string(at);
  if (query.verb != Verb::kPlan) return where;
  const auto a = decode_jail_plan(one.out);
  const auto b = decode_jail_plan(other.out);
  if (!a || !b) return where;
  if (a->view != b->view) where += ", in the view";
  if (a->canonical_argv != b->canonical_argv) where += ", in canonical_argv";
  if (a->digest != b->digest) where += ", in the digest";
  if (a->notes != b->notes) where += ", in the notes";
  if (a->backend != b->backend) where += ", in the backend's own bytes";
  return where;
}

void judge_again(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  RecordingHost host;
  const auto second = Instance::make(scene->table(), host, judgement);
  if (!second) return judgement.breach("a second create: " + second.error().message);
  const std::vector<Query> queries = pure_queries(*scene, judgement);
  std::vector<Answer> first;
  for (const Query& query : queries) {
    first.push_back(scene->backend().call(query.verb, query.input));
    const Answer at_once = scene->backend().call(query.verb, query.input);
    if (!same(first.back(), at_once)) {
      judgement.breach(query.what +
                       " differs when asked again: " + difference(query, first.back(), at_once));
    }
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Answer later = scene->backend().call(queries[i].verb, queries[i].input);
    if (!same(first[i], later)) {
      judgement.breach(queries[i].what + " differs after other questions: " +
                       difference(queries[i], first[i], later));
    }
    const Answer other = (*second)->call(queries[i].verb, queries[i].input);
    if (!same(first[i], other)) {
      judgement.breach(queries[i].what +
                       " differs in another instance: " + difference(queries[i], first[i], other));
    }
  }
}

void judge_elsewhere(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const std::vector<Query> queries = pure_queries(*scene, judgement);
  const auto elsewhere = ask_another_process(subject, queries);
  if (!elsewhere) return judgement.unjudged(elsewhere.error().message);
  if (elsewhere->size() != queries.size()) return judgement.unjudged("answers are missing");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const Answer here = scene->backend().call(queries[i].verb, queries[i].input);
    if (!same(here, (*elsewhere)[i])) {
      judgement.breach(queries[i].what +
                       " differs in a process with another environment, locale and directory: " +
                       difference(queries[i], here, (*elsewhere)[i]));
    }
  }
}

// The facts say that a path is absent, whatever the disk says by now.
void judge_facts(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  Policy policy = plain_policy(scene->place());
  policy.readable_roots = {scene->place().path("later")};
  policy.mounts = {{.path = scene->place().path("mounted/later")}};
  const auto request = scene->question(policy);
  if (!request) return judgement.breach("survey: " + request.error().message);
  const Query query{"plan with absent paths", Verb::kPlan, encode(*request)};
  const Answer before = scene->backend().call(query.verb, query.input);
  for (const char* inside : {"later/file", "mounted/later/file"}) {
    if (const auto made = scene->place().write(inside, "there"); !made) {
      return judgement.unjudged(made.error().message);
    }
  }
  const Answer after = scene->backend().call(query.verb, query.input);
  if (!same(before, after)) {
    judgement.breach(
        "plan looks at the disk: with the same facts it differs once the paths are "
        "there: " +
        difference(query, before, after));
  }
}

void shuffle_lists(Policy& policy, std::mt19937& random) {
  const auto shuffle = [&random](auto& list) { std::shuffle(list.begin(), list.end(), random); };
  shuffle(policy.writable_roots);
  shuffle(policy.readable_roots);
  shuffle(policy.protected_paths);
  shuffle(policy.mounts);
  shuffle(policy.env_allow);
}

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  return list;
}

void judge_order_of_lists(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  std::mt19937 random(kSeed);
  for (const NamedPolicy& named : policies_for(scene->place(), kSeed + 1, 20)) {
    Policy shuffled = named.policy;
    shuffle_lists(shuffled, random);
    const auto one = scene->question(named.policy);
    const auto other = scene->question(shuffled);
    if (!one || !other) continue;
    const auto plan = scene->backend().plan(*one);
    const auto same_plan = scene->backend().plan(*other);
    const std::string what = "\"" + named.name + "\" with its lists in another order";
    if (plan.has_value() != same_plan.has_value()) {
      judgement.breach(what + " is " + (plan ? "refused" : "no longer refused"));
      continue;
    }
    if (!plan) continue;
    if (plan->view != same_plan->view || plan->canonical_argv != same_plan->canonical_argv ||
        plan->digest != same_plan->digest) {
      judgement.breach(what + " has another view, canonical_argv or digest");
    }
    const auto audit = scene->backend().audit(*plan);
    const auto same_audit = scene->backend().audit(*same_plan);
    if (audit && same_audit &&
        sorted(audit->when_witnessed) != sorted(same_audit->when_witnessed)) {
      judgement.breach(what + " has another audit");
    }
  }
}

}  // namespace

std::vector<Check> determinism_checks() {
  return {
      {"plan.deterministic", "The same question gets the same bytes, in every instance and order.",
       judge_again, 120},
      {"plan.same-elsewhere",
       "Answers depend on no environment, locale, directory, clock or address.", judge_elsewhere,
       120},
      {"plan.asks-the-facts", "A pure verb asks the facts, never the disk.", judge_facts},
      {"plan.order-of-lists", "The order of a policy's lists means nothing.", judge_order_of_lists,
       120},
  };
}

}  // namespace loom::conformance
