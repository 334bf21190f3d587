#include <loom/codec.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "../child_process.h"
#include "../process_state.h"
#include "../scene.h"

namespace loom::conformance {
namespace {

struct BeforeAndAfter {
  ProcessState before;
  ProcessState after;
};

// A sound question, worked out in another process, so that this one has not met the backend yet.
Result<PlanRequest> question_from_elsewhere(const Subject& subject, Judgement& judgement) {
  LOOM_TRY(const Bytes bytes, bytes_from_child(
                                  [&]() -> Result<Bytes> {
                                    const auto scene = Scene::open(subject, judgement);
                                    if (!scene) return fail(ErrorCode::kBackend, "no scene");
                                    Policy policy = masked_policy(*scene);
                                    policy.readable_roots = {scene->place().path("read")};
                                    LOOM_TRY(const PlanRequest request, scene->question(policy));
                                    return encode(request);
                                  },
                                  std::chrono::seconds(30)));
  return decode_plan_request(bytes);
}

// Every verb once, and a start that spawns nothing.
void use(const loom_backend_v1& table, const PlanRequest& request, Judgement& judgement) {
  RecordingHost host;
  const auto made = Instance::make(table, host, judgement);
  if (!made) return judgement.breach("create: " + made.error().message);
  const Instance& backend = **made;
  HostFacts facts = request.facts;
  facts.paths.clear();
  static_cast<void>(backend.pieces());
  static_cast<void>(backend.probe({.phase = ProbePhase::kBeforeHello, .facts = facts}));
  static_cast<void>(backend.features(facts));
  static_cast<void>(backend.survey({.policy = request.policy, .facts = facts}));
  const auto plan = backend.plan(request);
  if (!plan) return judgement.breach("plan of a plain policy: " + plan.error().message);
  static_cast<void>(backend.audit(*plan));
  const auto launch = backend.render(*plan);
  if (!launch) return judgement.breach("render of its own plan: " + launch.error().message);
  static_cast<void>(backend.start(*launch));
  const TargetsRequest running{.rung = Rung::kTerm, .child = 1, .table = {}};
  static_cast<void>(backend.call(Verb::kObserve, encode(running)));
  static_cast<void>(backend.targets(running));
  backend.finish();
}

std::optional<BeforeAndAfter> exercise(const Subject& subject, Judgement& judgement) {
  // A value of every kind of environment, so that a change shows.
  ::setenv("CONFORMANCE_CANARY", "unchanged", 1);
  const auto request = question_from_elsewhere(subject, judgement);
  if (!request) {
    judgement.unjudged("no question to ask: " + request.error().message);
    return std::nullopt;
  }
  BeforeAndAfter states{.before = look_at_this_process(), .after = {}};
  const loom_backend_v1* const table = load(subject, judgement);
  if (table == nullptr) return std::nullopt;
  use(*table, *request, judgement);
  states.after = look_at_this_process();
  return states;
}

void compare(const char* what, const std::map<int, std::string>& before,
             const std::map<int, std::string>& after, Judgement& judgement) {
  for (const auto& [key, value] : after) {
    const auto found = before.find(key);
    if (found == before.end()) {
      judgement.breach(std::string(what) + " " + std::to_string(key) + " is new: " + value);
    } else if (found->second != value) {
      judgement.breach(std::string(what) + " " + std::to_string(key) + " was " + found->second +
                       " and is " + value);
    }
  }
  for (const auto& [key, value] : before) {
    if (!after.contains(key)) {
      judgement.breach(std::string(what) + " " + std::to_string(key) + " is gone: " + value);
    }
  }
}

void compare(const char* what, const std::vector<std::string>& before,
             const std::vector<std::string>& after, Judgement& judgement) {
  const auto lacks = [](const std::vector<std::string>& list, const std::string& item) {
    return std::find(list.begin(), list.end(), item) == list.end();
  };
  for (const std::string& item : after) {
    if (lacks(before, item)) judgement.breach(std::string(what) + " appeared: " + item);
  }
  for (const std::string& item : before) {
    if (lacks(after, item)) judgement.breach(std::string(what) + " is gone: " + item);
  }
}

void compare(const char* what, const std::string& before, const std::string& after,
             Judgement& judgement) {
  if (before != after) {
    judgement.breach(std::string(what) + " was \"" + before + "\" and is \"" + after + "\"");
  }
}

// Compares one part of this process before and after the backend was used.
template <class Part>
void judge_part(const char* what, Part ProcessState::*part, const Subject& subject,
                Judgement& judgement) {
  const auto seen = exercise(subject, judgement);
  if (seen) compare(what, seen->before.*part, seen->after.*part, judgement);
}

void judge_descriptors(const Subject& subject, Judgement& judgement) {
  judge_part("descriptor", &ProcessState::descriptors, subject, judgement);
}

void judge_signals(const Subject& subject, Judgement& judgement) {
  judge_part("signal", &ProcessState::signals, subject, judgement);
}

void judge_environment(const Subject& subject, Judgement& judgement) {
  judge_part("variable", &ProcessState::environment, subject, judgement);
}

void judge_locale(const Subject& subject, Judgement& judgement) {
  judge_part("the locale", &ProcessState::locale, subject, judgement);
}

void judge_threads(const Subject& subject, Judgement& judgement) {
  judge_part("thread", &ProcessState::threads, subject, judgement);
}

void judge_processes(const Subject& subject, Judgement& judgement) {
  judge_part("child process", &ProcessState::children, subject, judgement);
}

void judge_directory(const Subject& subject, Judgement& judgement) {
  const auto seen = exercise(subject, judgement);
  if (!seen) return;
  compare("the working directory", seen->before.directory, seen->after.directory, judgement);
  compare("the umask", std::to_string(seen->before.umask), std::to_string(seen->after.umask),
          judgement);
}

void judge_privileges(const Subject& subject, Judgement& judgement) {
  const auto seen = exercise(subject, judgement);
  if (!seen) return;
  compare("the process", seen->before.privileges, seen->after.privileges, judgement);
  compare("limit", seen->before.limits, seen->after.limits, judgement);
}

void judge_output(const Subject& subject, Judgement& judgement) {
  const auto seen = exercise(subject, judgement);
  if (!seen || seen->after.printed == seen->before.printed) return;
  const std::string text = read_whole(STDOUT_FILENO).substr(seen->before.printed, 200);
  judgement.breach(std::to_string(seen->after.printed - seen->before.printed) +
                   " bytes on standard output or error: " + text);
}

// Exits the ordinary way after the backend was used, and looks at what that did.
void judge_exit(const Subject& subject, Judgement& judgement) {
  const auto request = question_from_elsewhere(subject, judgement);
  if (!request) return judgement.unjudged("no question to ask: " + request.error().message);
  constexpr int kStatus = 33;
  const std::size_t before = read_whole(STDOUT_FILENO).size();
  const auto child = fork_child([&]() -> int {
    if (const auto* table = load(subject, judgement); table != nullptr) {
      use(*table, *request, judgement);
    }
    judgement.step("exit", true);
    std::exit(kStatus);
  });
  if (!child) return judgement.unjudged(child.error().message);
  const Ending ending = await_end(*child, std::chrono::seconds(20));
  judgement.step("after exit");
  if (ending.text() != "exit 33") {
    judgement.breach("exit(33) after using the backend ended as: " + ending.text());
  }
  const std::string printed = read_whole(STDOUT_FILENO).substr(before);
  if (!printed.empty()) judgement.breach("exit printed: " + printed.substr(0, 200));
}

}  // namespace

std::vector<Check> manners_checks() {
  return {
      {"manners.descriptors", "A backend keeps no descriptor and leaves those of others alone.",
       judge_descriptors},
      {"manners.signals", "A backend changes no signal's disposition and not the mask.",
       judge_signals},
      {"manners.environment", "A backend leaves the environment alone.", judge_environment},
      {"manners.locale", "A backend leaves the locale alone.", judge_locale},
      {"manners.directory", "A backend leaves the working directory and the umask alone.",
       judge_directory},
      {"manners.threads", "A backend creates no threads.", judge_threads},
      {"manners.processes", "A backend forks nothing; the host does.", judge_processes},
      {"manners.privileges",
       "A backend changes neither ids, capabilities, filters nor limits of the helper.",
       judge_privileges},
      {"manners.output", "A backend writes nothing to standard output or error.", judge_output},
      {"manners.exit", "A helper that used a backend exits as it would without it, and silently.",
       judge_exit},
  };
}

}  // namespace loom::conformance
