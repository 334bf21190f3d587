#include "app/planned_launch.h"

#include <loom/stage2_control.h>

#include <utility>

namespace loom::app {
namespace {

// Whether the answer depends on nothing but the policy and the facts. The operator's flags are the
// same for every question of a helper.
bool is_plain(const PlanRequest& question) {
  return !question.exec && !question.explain_filter && !question.private_scratch &&
         !question.command.program && !question.command.argv.empty();
}

}  // namespace

Bytes commit_of(const Command& command) {
  return encode(
      CommitDocument{.argv = command.argv, .environment = command.environment, .cwd = command.cwd});
}

std::vector<AbsolutePath> named_paths(const LaunchSpec& launch) {
  std::vector<AbsolutePath> paths;
  for (const WatchedPath& watched : launch.watched) {
    if (watched.is_named()) paths.push_back(watched.path);
  }
  return paths;
}

std::vector<AbsolutePath> PlannedLaunches::names_of(const Policy& policy) const {
  if (!last_ || last_->policy != policy) return {};
  return named_paths(last_->launch);
}

std::shared_ptr<PlannedLaunch> PlannedLaunches::find(
    const PlanRequest& question, const std::shared_ptr<const HostFacts>& facts) const {
  const bool same = last_ && is_plain(question) && last_->policy == question.policy &&
                    (last_->facts == facts || *last_->facts == *facts);
  return same ? last_ : nullptr;
}

std::shared_ptr<PlannedLaunch> PlannedLaunches::remember(const PlanRequest& question,
                                                         std::shared_ptr<const HostFacts> facts,
                                                         const JailPlan& plan,
                                                         const LaunchSpec& launch,
                                                         const Audit& audit) {
  if (!is_plain(question) || !plan.to_make.empty()) return nullptr;
  // Who has more to say to its stage 2 says it for every command.
  if (launch.commit != commit_of(question.command)) return nullptr;
  last_ = std::make_shared<PlannedLaunch>(PlannedLaunch{
      .policy = question.policy, .facts = std::move(facts), .launch = launch, .audit = audit});
  last_->launch.commit.clear();
  return last_;
}

}  // namespace loom::app
