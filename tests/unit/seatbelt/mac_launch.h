#pragma once

#include <loom/plan.h>
#include <loom/view_replay.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frozen_exec.h"
#include "mac_jail.h"
#include "model_tree.h"
#include "policy_case.h"
#include "profile_reader.h"

namespace loom::seatbelt::test {

// Changes a profile's text, to see whether it is noticed. Nothing: there is nothing to change.
using Mutation = std::function<std::optional<std::string>(const std::string&, const Definitions&)>;

// The same case planned for Seatbelt on a Mac.
class MacLaunch {
 public:
  explicit MacLaunch(const PolicyCase& one, const Mutation& mutation = {});

  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const ModelTree& tree() const noexcept { return tree_; }
  [[nodiscard]] const FrozenExec& exec() const noexcept { return exec_; }
  // What the report will say that mounts undid.
  [[nodiscard]] const std::vector<std::string>& widened() const noexcept { return widened_; }
  [[nodiscard]] const Profile& profile() const noexcept { return profile_; }
  [[nodiscard]] const std::string& text() const noexcept { return call_.profile; }
  [[nodiscard]] const Definitions& definitions() const noexcept { return call_.definitions; }
  [[nodiscard]] bool by_descriptor() const noexcept { return call_.by_descriptor; }
  [[nodiscard]] bool mutated() const noexcept { return mutated_; }
  [[nodiscard]] bool may(Deed deed, const std::string& path) const;
  // What the plan's own view says, by names as they are stored.
  [[nodiscard]] const MountOperation& shown(const std::string& real) const {
    return *replay_->effective(real);
  }
  [[nodiscard]] MacJail jail() const { return {profile_, tree_}; }

 private:
  void read_profile(const JailPlan& plan, const Mutation& mutation);

  ModelTree tree_;
  FrozenExec exec_;
  std::string refusal_;
  ProfileCall call_;
  Profile profile_;
  bool mutated_ = false;
  std::vector<MountOperation> view_;
  std::unique_ptr<ViewReplay> replay_;
  std::vector<std::string> widened_;
};

// What every Mac of the tests has.
inline constexpr const char* kPrivateScratch = "/private/tmp/loom-exec-scratch-x";
inline constexpr const char* kUserDirectories[] = {"/var/folders/u/T", "/var/folders/u/C"};
inline constexpr const char* kStage2 = "/helper/stage2";
inline constexpr const char* kStage2Link = "/helper/link";

[[nodiscard]] ModelTree mac_tree(const PolicyCase& one);

}  // namespace loom::seatbelt::test
