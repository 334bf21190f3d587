#include <loom/stage2_control.h>

#include <algorithm>
#include <set>

#include "../child_process.h"
#include "../scene.h"

namespace loom::conformance {
namespace {

PlanRequest with_odd_command(PlanRequest request) {
  request.command.argv = {"prog", "", "two words", "-x", "caf\xC3\xA9", "\xFF\xFE", "$HOME `id`"};
  request.command.environment = {"A=", "B=a=b", "C=\xFF", "PATH=/usr/bin"};
  return request;
}

struct RenderedCommand {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string cwd;
};

Result<RenderedCommand> command_of(const LaunchSpec& launch) {
  if (launch.image == ImageKind::kCommand) {
    return RenderedCommand{launch.argv, launch.environment, launch.cwd};
  }
  LOOM_TRY(CommitDocument document, decode_commit_document(launch.commit));
  return RenderedCommand{std::move(document.argv), std::move(document.environment),
                         std::move(document.cwd)};
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " \"" + word + "\"";
  return text;
}

void judge_command(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto plain = scene->question(plain_policy(scene->place()));
  if (!plain) return judgement.breach("survey: " + plain.error().message);
  const PlanRequest request = with_odd_command(*plain);
  const auto plan = scene->backend().plan(request);
  if (!plan) return judgement.breach("plan of a plain policy: " + plan.error().message);
  const auto launch = scene->backend().render(*plan);
  if (!launch) return judgement.breach("render: " + launch.error().message);
  const auto command = command_of(*launch);
  if (!command) return judgement.breach("the commit: " + command.error().message);
  const Command& asked = request.command;
  if (command->argv != asked.argv) {
    judgement.breach("argv was" + quoted(asked.argv) + " and is rendered as" +
                     quoted(command->argv));
  }
  if (command->environment != asked.environment) {
    judgement.breach("environment was" + quoted(asked.environment) + " and is rendered as" +
                     quoted(command->environment));
  }
  if (command->cwd != asked.cwd) {
    judgement.breach("cwd was \"" + asked.cwd + "\" and is rendered as \"" + command->cwd + "\"");
  }
}

// Nothing of the policy or the command may be read in a process's command line or environment.
void judge_secrecy(const Subject& subject, Judgement& judgement) {
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (!decision.launch || decision.launch->image == ImageKind::kCommand) return;
    for (const std::string& word : decision.launch->argv) {
      for (const AbsolutePath& path : decision.request.policy.protected_paths) {
        if (word.find(path.str()) != std::string::npos) {
          judgement.breach(decision.name + ": the launcher's command line shows " + path.str());
        }
      }
      if (word.find("CONFORMANCE_A=") != std::string::npos) {
        judgement.breach(decision.name + ": the launcher's command line shows a variable");
      }
    }
    for (const std::string& variable : decision.launch->environment) {
      judgement.breach(decision.name + ": the launcher's environment is not empty: " + variable);
    }
  });
}

void judge_numbers(const Subject& subject, Judgement& judgement) {
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (!decision.launch) return;
    std::set<int> taken = {0, 1, 2};
    const auto take = [&](int number, const std::string& what) {
      if (number < 3 || !taken.insert(number).second) {
        judgement.breach(decision.name + ": " + what + " wants the child's descriptor " +
                         std::to_string(number) + ", which is taken or no such number");
      }
    };
    for (const MemoryFile& file : decision.launch->memory_files) take(file.child_number, file.role);
    for (const LentHandle& handle : decision.launch->handles) {
      take(handle.child_number, "handle of " + handle.path.str());
    }
    if (decision.launch->report_number >= 0) take(decision.launch->report_number, "report");
    if (decision.launch->control_number >= 0) take(decision.launch->control_number, "control");
    if (decision.launch->stdin_number != 0) take(decision.launch->stdin_number, "stdin");
    if ((decision.launch->report_number >= 0) != (decision.launch->control_number >= 0)) {
      judgement.breach(decision.name + ": report and control go together");
    }
  });
}

std::optional<LaunchSpec> plain_launch(const Scene& scene, Judgement& judgement) {
  const auto request = scene.question(plain_policy(scene.place()));
  const auto plan = request ? scene.backend().plan(*request) : fail(ErrorCode::kBackend, "survey");
  if (!plan) {
    judgement.breach("plan of a plain policy: " + plan.error().message);
    return std::nullopt;
  }
  auto launch = scene.backend().render(*plan);
  if (launch) return std::move(*launch);
  judgement.breach("render: " + launch.error().message);
  return std::nullopt;
}

void judge_start(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto launch = plain_launch(*scene, judgement);
  if (!launch) return;
  RecordingHost& host = scene->host();
  // A trial launch of the probe may have left some that are still on their way out.
  const auto before = own_children();
  const auto started = scene->backend().start(*launch);
  if (!started) judgement.breach("start, though spawn succeeded: " + started.error().message);
  if (host.spawned.size() != 1) {
    judgement.breach("start calls spawn " + std::to_string(host.spawned.size()) + " times");
  }
  LaunchSpec told = *launch;
  told.commit = Bytes();
  for (const LaunchSpec& spawned : host.spawned) {
    if (spawned != told) judgement.breach("start spawns another launch than render gave");
  }
  if (host.trials != 0) judgement.breach("start tries a launch, which only probe may");
  scene->backend().finish();
  for (const auto& child : own_children()) {
    const bool known = std::find(before.begin(), before.end(), child) != before.end();
    if (!known) judgement.breach("start left a process of its own: " + child.second);
  }
}

void judge_failed_spawn(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const auto launch = plain_launch(*scene, judgement);
  if (!launch) return;
  RecordingHost& host = scene->host();
  host.spawn_answer = fail(ErrorCode::kSystem, "no more processes");
  const auto started = scene->backend().start(*launch);
  if (started) judgement.breach("start succeeds, though the host could not spawn");
  if (host.spawned.size() != 1) {
    judgement.breach("start calls spawn " + std::to_string(host.spawned.size()) +
                     " times when it fails");
  }
  scene->backend().finish();
}

void judge_probe(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  RecordingHost& host = scene->host();
  HostFacts facts = scene->facts();
  facts.backend.clear();
  const auto early = scene->backend().probe({.phase = ProbePhase::kBeforeHello, .facts = facts});
  if (!early) judgement.breach("probe before the hello: " + early.error().message);
  if (host.trials != 0) judgement.breach("a launch is tried before the hello");
  if (!host.spawned.empty()) judgement.breach("probe spawns");
}

}  // namespace

std::vector<Check> launch_checks() {
  return {
      {"launch.command-exact",
       "argv, environment and working directory of the command are rendered byte for byte.",
       judge_command},
      {"launch.tells-nothing",
       "Nothing of the policy or the command stands in a launcher's command line or environment.",
       judge_secrecy, 180},
      {"launch.numbers", "Each descriptor of the child has a number of its own, above 2.",
       judge_numbers, 180},
      {"start.spawns-the-rendered", "start calls spawn exactly once, with what render gave.",
       judge_start},
      {"start.reports-failure", "A spawn that fails is start's failure, and is not tried again.",
       judge_failed_spawn},
      {"probe.launches-late", "Nothing is launched before the hello.", judge_probe},
  };
}

}  // namespace loom::conformance
