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

// What bubblewrap itself said when it was tried; nothing when it builds jails, or was not tried.
std::string said_no(const HostFacts& facts) {
  const auto kernel = decode_kernel_facts(facts.backend);
  return kernel ? kernel->launcher.broken : std::string();
}

std::string why_no_jail(const HostFacts& facts) {
  if (!facts.stage2.present) return "stage 2 is missing: " + facts.stage2.reason;
  return facts.launcher.present ? said_no(facts) : facts.launcher.reason;
}

constexpr const char* kGroupsInReach =
    "without bubblewrap and Landlock a command can write to its control group and leave it";

}  // namespace

bool has_jail(const HostFacts& facts) {
  return facts.launcher.present && facts.stage2.present && said_no(facts).empty();
}

Result<Features> list_features(const HostFacts& facts) {
  LOOM_TRY(const KernelFacts kernel, decode_kernel_facts(facts.backend));
  const bool jailed = has_jail(facts);
  Features found;
  found.tags = {"rlimits", "pgroup"};
  list_layer(found, "bwrap", jailed, why_no_jail(facts));
  found.degraded = !jailed;
  found.can_warm = jailed;
  if (found.degraded) found.tags.emplace_back("degraded");
  list_layer(found, "landlock", kernel.landlock_abi > 0, kernel.landlock_reason);
  list_layer(found, "seccomp", kernel.seccomp, kernel.seccomp_reason);
  const bool confines = kernel.landlock_abi > 0 && kernel.seccomp;
  found.exec = confines ? ExecSupport::kEnumerated : ExecSupport::kNone;
  list_layer(found, "exec-landlock", confines,
             kernel.landlock_abi > 0 ? kernel.seccomp_reason : kernel.landlock_reason);
  // Nothing else would keep the command from its own group.
  const bool out_of_reach = jailed || kernel.landlock_abi > 0;
  list_layer(found, "cgroup-v2", facts.ceilings.available && out_of_reach,
             facts.ceilings.available ? kGroupsInReach : facts.ceilings.reason);
  if (!facts.stage2.present) {
    found.refusal = "stage 2 is missing, so nothing at all can be enforced: " + facts.stage2.reason;
  }
  return found;
}

}  // namespace loom::bwrap
