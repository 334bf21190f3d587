#pragma once

#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/result.h>

#include "run_memo.h"
#include "stage2/prepare_document.h"

namespace loom::bwrap {

// What stage 2 is told to check and to put in force.
[[nodiscard]] Result<PrepareDocument> prepare_document(const std::vector<MountOperation>& view,
                                                       const RunMemo& memo);

// The launch of a plan of ours.
[[nodiscard]] Result<LaunchSpec> render(const JailPlan& plan);

}  // namespace loom::bwrap
