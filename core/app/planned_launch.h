#pragma once

#include <loom/launch.h>
#include <loom/plan.h>

#include <memory>
#include <vector>

namespace loom::app {

// What a backend made of a policy on this machine, whatever the command is. The plan itself is of
// no use to anybody once it is rendered and audited.
struct PlannedLaunch {
  Policy policy;
  std::shared_ptr<const HostFacts> facts;
  LaunchSpec launch;  // without a commit
  Audit audit;
};

// The last launch that was planned, for the next command in the same jail: the policy is the same,
// and every fact, looked at anew. Only of backends that say Features::can_warm, which do not
// look at the command for anything but the commit; and only where nothing had to be made for it.
// Keeps nothing of the command that was asked for: its environment may hold secrets.
class PlannedLaunches {
 public:
  // Null when `question` has to be asked. `facts` are those that it would be asked by; its own are
  // not looked at.
  [[nodiscard]] std::shared_ptr<PlannedLaunch> find(
      const PlanRequest& question, const std::shared_ptr<const HostFacts>& facts) const;

  // The paths whose names the last launch of this policy watches; empty where there was none.
  [[nodiscard]] std::vector<AbsolutePath> names_of(const Policy& policy) const;

  // Null when the next command has to ask all the same.
  [[nodiscard]] std::shared_ptr<PlannedLaunch> remember(const PlanRequest& question,
                                                        std::shared_ptr<const HostFacts> facts,
                                                        const JailPlan& plan,
                                                        const LaunchSpec& launch,
                                                        const Audit& audit);

 private:
  std::shared_ptr<PlannedLaunch> last_;
};

// The paths of a launch that must go on having their names.
[[nodiscard]] std::vector<AbsolutePath> named_paths(const LaunchSpec& launch);

// The commit that belongs to `command` in a launch of version 2 (<loom/stage2_control.h>).
[[nodiscard]] Bytes commit_of(const Command& command);

}  // namespace loom::app
