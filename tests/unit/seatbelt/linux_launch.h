#pragma once

#include <loom/plan.h>
#include <loom/view_replay.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frozen_exec.h"
#include "model_tree.h"
#include "policy_case.h"

namespace loom::seatbelt::test {

// A case planned for bubblewrap on a machine as Linux lays it out.
class LinuxLaunch {
 public:
  explicit LinuxLaunch(const PolicyCase& one);

  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const ModelTree& tree() const noexcept { return tree_; }
  [[nodiscard]] const FrozenExec& exec() const noexcept { return exec_; }
  // What the report will say that mounts undid.
  [[nodiscard]] const std::vector<std::string>& widened() const noexcept { return widened_; }
  [[nodiscard]] bool cuts_network() const;
  [[nodiscard]] bool may(Deed deed, const std::string& path) const;
  // What the jail shows at a real path. Sources that are absent are left out, as bubblewrap does.
  [[nodiscard]] const MountOperation& shown(const std::string& real) const {
    return *replay_->effective(real);
  }
  // Whether something is mounted at exactly this name.
  [[nodiscard]] bool is_mount_point(const std::string& real) const;
  // Whether a directory was made there, on the way to a protected path that is absent.
  [[nodiscard]] bool is_made(const std::string& real) const { return made_.contains(real); }
  // Whether the jail has the link, of the host's or as one of its own.
  [[nodiscard]] bool shows_link(const std::string& place) const;

 private:
  void make_plan(const Policy& policy);
  [[nodiscard]] bool may_move(const std::string& path) const;
  [[nodiscard]] bool may_create(const std::string& path) const;

  ModelTree tree_;
  FrozenExec exec_;
  std::set<std::string> made_;
  std::set<std::string> links_;  // that the jail has of its own
  JailPlan plan_;
  std::string refusal_;
  std::vector<MountOperation> view_;
  std::unique_ptr<ViewReplay> replay_;
  std::vector<std::string> widened_;
};

[[nodiscard]] ModelTree linux_tree(const PolicyCase& one);

}  // namespace loom::seatbelt::test
