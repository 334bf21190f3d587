#include <loom/view_replay.h>

#include <algorithm>

#include "../clause_words.h"
#include "../scene.h"

namespace loom::conformance {
namespace {

// What would be published of this plan if nothing else went wrong.
std::vector<std::string> entries_of(const Decision& decision) {
  const Audit& audit = decision.audit;
  std::vector<std::string> entries = audit.always;
  const auto add = [&entries](const std::vector<std::string>& more) {
    entries.insert(entries.end(), more.begin(), more.end());
  };
  add(audit.expects_witness ? audit.when_witnessed : audit.when_silent);
  add(audit.extras);
  for (const std::string& widened : audit.widened) entries.push_back("skip:" + widened);
  return entries;
}

bool named(const Decision& decision, const Words& words, const AbsolutePath& path) {
  return !entry_that_names(entries_of(decision), words, path.str()).empty();
}

bool named(const Decision& decision, const Words& words) {
  return !entry_that_names(entries_of(decision), words).empty();
}

// Where the path leads by the facts.
const AbsolutePath& real_of(const Decision& decision, const AbsolutePath& path) {
  const PathFact* const fact = decision.request.facts.find(path);
  return fact != nullptr ? fact->real : path;
}

bool is_missing(const Decision& decision, const AbsolutePath& path) {
  const PathFact* const fact = decision.request.facts.find(path);
  return fact == nullptr || fact->kind == PathKind::kMissing;
}

std::string shown_as(const MountOperation* operation) {
  if (operation == nullptr) return "shown by no operation of the view";
  return "decided by " + std::string(mount_class_name(operation->mount_class)) + " at " +
         operation->region.str();
}

// An inner stage may hold what no plan shows; its report is judged in jails.
bool has_inner_stage(const Decision& decision) {
  return decision.launch && decision.launch->report_number >= 0;
}

void judge_protected(const Decision& decision, Judgement& judgement) {
  if (!decision.plan) return;
  const ViewReplay replay(decision.plan->view);
  for (const AbsolutePath& path : decision.request.policy.protected_paths) {
    const MountOperation* const operation = replay.effective(real_of(decision, path));
    const bool hidden = operation != nullptr && is_masked(operation->mount_class) &&
                        !is_writable(operation->mount_class);
    if (hidden || named(decision, words::kProtected, path)) continue;
    judgement.breach(decision.name + ": protected " + path.str() + " is " + shown_as(operation) +
                     ", and no entry says so");
  }
}

// Everything that a policy lets a command write.
std::vector<AbsolutePath> granted_writing(const Decision& decision) {
  const Policy& policy = decision.request.policy;
  std::vector<AbsolutePath> regions = policy.writable_roots;
  if (policy.scratch.host_path) regions.push_back(*policy.scratch.host_path);
  for (const ExplicitMount& mount : policy.mounts) {
    if (mount.writable) regions.push_back(mount.path);
  }
  for (AbsolutePath& region : regions) region = real_of(decision, region);
  return regions;
}

bool is_within_any(const AbsolutePath& path, const std::vector<AbsolutePath>& regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [&path](const AbsolutePath& region) { return path.is_within(region); });
}

void judge_writable(const Decision& decision, Judgement& judgement) {
  if (!decision.plan) return;
  const std::vector<AbsolutePath> granted = granted_writing(decision);
  const ViewReplay replay(decision.plan->view);
  for (const MountOperation& operation : decision.plan->view) {
    if (!is_host_writable(operation.mount_class) || is_within_any(operation.region, granted)) {
      continue;
    }
    if (named(decision, words::kWritable, operation.region)) continue;
    judgement.breach(decision.name + ": the view makes " + operation.region.str() +
                     " writable, which the policy does not grant, and no entry says so");
  }
  for (const AbsolutePath& root : decision.request.policy.readable_roots) {
    const AbsolutePath& real = real_of(decision, root);
    const MountOperation* const operation = replay.effective(real);
    const bool wide = operation != nullptr && is_writable(operation->mount_class) &&
                      is_host_backed(operation->mount_class) && !is_within_any(real, granted);
    if (wide && !named(decision, words::kReadable, root)) {
      judgement.breach(decision.name + ": readable root " + root.str() + " is writable, " +
                       shown_as(operation) + ", and no entry says so");
    }
  }
  if (decision.plan->view.empty() && !has_inner_stage(decision) &&
      !named(decision, words::kWritable)) {
    judgement.breach(decision.name +
                     ": no view and no inner stage, and no entry says that everything is writable");
  }
}

void judge_readable(const Decision& decision, Judgement& judgement) {
  if (!decision.plan) return;
  std::vector<AbsolutePath> granted;
  for (const SurveyPath& path : decision.survey.paths) {
    if (path.role == PathRole::kProtected) continue;
    granted.push_back(real_of(decision, path.path));
    granted.push_back(path.path);
  }
  for (const MountOperation& operation : decision.plan->view) {
    if (!is_host_backed(operation.mount_class) || is_within_any(operation.region, granted)) {
      continue;
    }
    if (named(decision, words::kReadable, operation.region)) continue;
    judgement.breach(decision.name + ": the view shows " + operation.region.str() +
                     ", which nobody asked for, and no entry says so");
  }
  if (decision.plan->view.empty() && !named(decision, words::kView)) {
    judgement.breach(decision.name + ": no view, and no entry says that everything is readable");
  }
}

void judge_mounts(const Decision& decision, Judgement& judgement) {
  if (!decision.plan) return;
  const ViewReplay replay(decision.plan->view);
  for (const ExplicitMount& mount : decision.request.policy.mounts) {
    if (is_missing(decision, mount.path)) continue;
    const MountOperation* const operation = replay.effective(real_of(decision, mount.path));
    const bool shown = operation != nullptr && is_host_backed(operation->mount_class) &&
                       is_writable(operation->mount_class) == mount.writable;
    if (shown || named(decision, words::kMounts, mount.path)) continue;
    judgement.breach(decision.name + ": " + (mount.writable ? "read-write" : "read-only") +
                     " mount " + mount.path.str() + " is " + shown_as(operation) +
                     ", and no entry says so");
  }
}

void judge_scratch(const Decision& decision, Judgement& judgement) {
  if (!decision.plan) return;
  const Scratch& scratch = decision.request.policy.scratch;
  const ViewReplay replay(decision.plan->view);
  if (scratch.is_tmpfs()) {
    const MountOperation* const operation = replay.effective("/tmp");
    const bool own = operation != nullptr && !is_host_backed(operation->mount_class) &&
                     is_writable(operation->mount_class);
    if (own || decision.request.private_scratch || named(decision, words::kScratch)) return;
    return judgement.breach(decision.name + ": a private scratch is asked for, /tmp is " +
                            shown_as(operation) + ", and no entry says so");
  }
  if (decision.plan->view.empty()) return;  // it is where the host has it
  const MountOperation* const operation = replay.effective(real_of(decision, *scratch.host_path));
  const bool writable = operation != nullptr && is_host_writable(operation->mount_class);
  if (writable || named(decision, words::kScratch, *scratch.host_path)) return;
  judgement.breach(decision.name + ": scratch " + scratch.host_path->str() + " is " +
                   shown_as(operation) + ", and no entry says so");
}

void judge_network(const Decision& decision, Judgement& judgement) {
  if (!decision.plan || decision.audit.expects_witness) return;
  const NetworkPolicy& network = decision.request.policy.network;
  if (network.blocks_direct() && !named(decision, words::kNetwork)) {
    judgement.breach(decision.name +
                     ": the network is to be cut, no inner stage reports on it, and no entry says "
                     "that it is not");
  }
  if (network.mode == NetworkMode::kProxy && !named(decision, words::kProxy)) {
    judgement.breach(decision.name + ": a proxy is asked for, and no entry names it");
  }
}

bool has_child_limit(const Decision& decision, ChildLimit::Resource resource, std::uint64_t value) {
  return std::any_of(decision.launch->child_limits.begin(), decision.launch->child_limits.end(),
                     [&](const ChildLimit& limit) {
                       return limit.resource == resource && limit.soft == value &&
                              limit.hard >= limit.soft;
                     });
}

void judge_limits(const Decision& decision, Judgement& judgement) {
  if (!decision.plan || !decision.launch) return;
  const Limits& limits = decision.request.policy.limits;
  const auto missing = [&](const char* what) {
    judgement.breach(decision.name + ": " + what +
                     " is asked for, the launch does not have it, and no entry says so");
  };
  if (!has_inner_stage(decision)) {
    if (limits.cpu_s &&
        !has_child_limit(decision, ChildLimit::Resource::kCpuSeconds, *limits.cpu_s) &&
        !named(decision, words::kCpu)) {
      missing("a CPU-time limit");
    }
    if (limits.fsize_bytes &&
        !has_child_limit(decision, ChildLimit::Resource::kFileSize, *limits.fsize_bytes) &&
        !named(decision, words::kFileSize)) {
      missing("a file-size limit");
    }
  }
  const Ceilings& ceilings = decision.launch->ceilings;
  if (limits.mem_bytes && ceilings.memory_bytes != limits.mem_bytes &&
      !named(decision, words::kMemory)) {
    missing("a memory ceiling");
  }
  if (limits.pids && ceilings.pids != limits.pids && !named(decision, words::kProcesses)) {
    missing("a process ceiling");
  }
}

// Every clause, with the same questions.
template <void (*judge)(const Decision&, Judgement&)>
void for_all(const Subject& subject, Judgement& judgement) {
  int made = 0;
  int refused = 0;
  decide_all(subject, judgement, [&](const Decision& decision) {
    ++(decision.plan ? made : refused);
    judge(decision, judgement);
  });
  judgement.remark(std::to_string(made) + " plans, " + std::to_string(refused) + " refusals");
}

// A table that confines programs is put in force, refused with the agreed token, or named.
void judge_exec(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  for (const ImaginedMachine& machine : imagined_machines(*scene, judgement)) {
    auto question = scene->question(plain_policy(scene->place()));
    if (!question) return judgement.breach("survey: " + question.error().message);
    PlanRequest request = with_exec_table(*question);
    request.facts.launcher = machine.facts.launcher;
    request.facts.stage2 = machine.facts.stage2;
    request.facts.backend = machine.facts.backend;
    const auto features = scene->backend().features(machine.facts);
    const auto plan = scene->backend().plan(request);
    const std::string what = "an exec table that confines programs, on " + machine.name;
    if (!plan) {
      if (!plan.error().message.starts_with("confinement_unavailable: ")) {
        judgement.breach(
            what + ", is refused without \"confinement_unavailable: \": " + plan.error().message);
      }
      continue;
    }
    if (features && features->exec == ExecSupport::kNone) {
      judgement.breach(what + ", is planned by a backend that confines no programs");
    }
    const auto launch = scene->backend().render(*plan);
    if (launch && !launch->wants_exec_rules && launch->commit.empty()) {
      judgement.breach(what + ", is planned, and nothing of it is put in force");
    }
  }
}

}  // namespace

std::vector<Check> clause_checks() {
  constexpr int kDeadline = 180;
  return {
      {"clause.protected",
       "A protected path is hidden by the view's last word on it, refused, or named as not held.",
       for_all<judge_protected>, kDeadline},
      {"clause.writable-roots",
       "Nothing but what is granted for writing is writable, or an entry says so.",
       for_all<judge_writable>, kDeadline},
      {"clause.readable-roots", "Nothing but what is granted is shown, or an entry says so.",
       for_all<judge_readable>, kDeadline},
      {"clause.mounts", "An explicit mount that is there is shown with its access, or named.",
       for_all<judge_mounts>, kDeadline},
      {"clause.scratch", "The scratch is what the policy says, or named.", for_all<judge_scratch>,
       kDeadline},
      {"clause.network", "Where no inner stage can report on the network, an entry names it.",
       for_all<judge_network>, kDeadline},
      {"clause.limits", "A limit is in the launch, an inner stage's affair, or named.",
       for_all<judge_limits>, kDeadline},
      {"clause.exec",
       "A table that confines programs is put in force or refused as confinement_unavailable.",
       judge_exec, kDeadline},
  };
}

}  // namespace loom::conformance
