#pragma once

#include <loom/plan.h>
#include <loom/result.h>

#include <string>
#include <vector>

#include "run_memo.h"

namespace loom::bwrap {

// What the view gives each path of the policy, by replaying it.
struct ViewAudit {
  std::string applied;               // "mounts:ro=…"; empty for an empty view
  std::vector<std::string> widened;  // "mounts: …"
};
[[nodiscard]] ViewAudit audit_view(const std::vector<MountOperation>& view, const RunMemo& memo);

[[nodiscard]] Result<Audit> audit(const JailPlan& plan);

}  // namespace loom::bwrap
