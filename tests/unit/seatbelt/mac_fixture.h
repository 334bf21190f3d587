#pragma once

#include <loom/features.h>
#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/policy.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/seatbelt/machine.h"
#include "mac_jail.h"
#include "model_tree.h"
#include "profile_reader.h"

namespace loom::seatbelt::test {

inline constexpr const char* kWork = "/Users/me/work";
inline constexpr const char* kUserTemp = "/var/folders/zz/T/";
inline constexpr const char* kUserCache = "/var/folders/zz/C/";
inline constexpr const char* kRunScratch = "/private/tmp/loom-exec-scratch-0123";
inline constexpr const char* kStage2Path = "/usr/local/libexec/loom-exec/seatbelt-stage2";

[[nodiscard]] AbsolutePath path(std::string_view text);
[[nodiscard]] std::vector<AbsolutePath> paths(const std::vector<std::string>& texts);
[[nodiscard]] ExplicitMount mount(std::string_view at, bool writable, bool required = true);
[[nodiscard]] ExecRule exec_directory(std::string_view real);
[[nodiscard]] ExecRule exec_file(std::string_view real);
[[nodiscard]] ExecRule exec_name(std::string_view name);
[[nodiscard]] ExecRule exec_any();
// A restrictive table.
[[nodiscard]] ExecRules exec_rules(std::vector<ExecRule> allow, std::vector<ExecRule> deny = {},
                                   std::vector<AbsolutePath> support = {});

// An imagined Mac: the system's directories and links, a user with a workspace in /Users/me/work,
// both user directories, an installation below /usr/local.
class Mac {
 public:
  Mac();

  Mac& directory(const std::string& at);
  Mac& file(const std::string& at);
  Mac& link(const std::string& at, const std::string& target);
  Mac& uid(std::uint32_t number);
  Mac& machine(const MachineFacts& facts);
  Mac& without_launcher();
  Mac& without_stage2();
  Mac& stage2(const std::string& at);

  // What a host would ask for this policy. A launch of version 3 when there are rules.
  [[nodiscard]] PlanRequest request(const Policy& policy,
                                    std::optional<ExecRules> exec = std::nullopt) const;
  [[nodiscard]] HostFacts facts(const Survey& survey) const;
  [[nodiscard]] const HostFacts& bare_facts() const noexcept { return facts_; }
  [[nodiscard]] const ModelTree& tree() const noexcept { return tree_; }

 private:
  ModelTree tree_;
  HostFacts facts_;
};

// Writable workspace, its .git protected, no network.
[[nodiscard]] Policy work_policy();

// A launch that was planned, rendered, audited and read again.
class Launched {
 public:
  // The request must be plannable, and its profile readable.
  Launched(const Mac& mac, const PlanRequest& request);
  Launched(const Mac& mac, const Policy& policy) : Launched(mac, mac.request(policy)) {}

  [[nodiscard]] const JailPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const LaunchSpec& launch() const noexcept { return launch_; }
  [[nodiscard]] const Audit& audit() const noexcept { return audit_; }
  [[nodiscard]] const std::string& profile() const noexcept { return call_.profile; }
  [[nodiscard]] const ProfileCall& call() const noexcept { return call_; }
  [[nodiscard]] const Profile& rules() const noexcept { return rules_; }
  [[nodiscard]] MacJail jail() const { return {rules_, tree_}; }
  // The paths of the parameters that begin so, in order.
  [[nodiscard]] std::vector<std::string> defined(const std::string& prefix) const;
  [[nodiscard]] std::string files_entry() const { return audit_.when_witnessed.at(1); }

 private:
  ModelTree tree_;
  JailPlan plan_;
  LaunchSpec launch_;
  Audit audit_;
  ProfileCall call_;
  Profile rules_;
};

// The refusal of a request that must not be plannable.
[[nodiscard]] Error refusal(const PlanRequest& request);

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
[[nodiscard]] std::size_t count(const std::string& text, const std::string& part);

}  // namespace loom::seatbelt::test
