#include "list_features.h"

#include <utility>

#include "kernel_facts.h"

namespace loom::bwrap {
namespace {

// What the helper's list says about one layer: the tag, or why it is missing.
void list_layer(Features& features, std::string tag, bool present, std::string reason) {
  if (present) {
    features.tags.push_back(std::move(tag));
  } else {
    features.absent.push_back({.tag = std::move(tag), .reason = std::move(reason)});
  }
}

std::string why_no_jail(const HostFacts& facts) {
  if (!facts.stage2.present) return "stage 2 is missing: " + facts.stage2.reason;
  return facts.launcher.reason;
}

constexpr const char* kGroupsInReach =
    "without bubblewrap and Landlock a command can write to its control group and leave it";

}  // namespace

bool has_jail(const HostFacts& facts) noexcept {
  return facts.launcher.present && facts.stage2.present;
}

Result<Features> list_features(const HostFacts& facts) {
  LOOM_TRY(const KernelFacts kernel, decode_kernel_facts(facts.backend));
  Features found;
  found.tags = {"rlimits", "pgroup"};
  list_layer(found, "bwrap", has_jail(facts), why_no_jail(facts));
  found.degraded = !has_jail(facts);
  if (found.degraded) found.tags.emplace_back("degraded");
  list_layer(found, "landlock", kernel.landlock_abi > 0, kernel.landlock_reason);
  list_layer(found, "seccomp", kernel.seccomp, kernel.seccomp_reason);
  // Nothing else would keep the command from its own group.
  const bool out_of_reach = has_jail(facts) || kernel.landlock_abi > 0;
  list_layer(found, "cgroup-v2", facts.ceilings.available && out_of_reach,
             facts.ceilings.available ? kGroupsInReach : facts.ceilings.reason);
  if (!facts.stage2.present) {
    found.refusal = "stage 2 is missing, so nothing at all can be enforced: " + facts.stage2.reason;
  }
  return found;
}

}  // namespace loom::bwrap
