#pragma once

#include <loom/plan.h>
#include <loom/result.h>

#include <string>
#include <vector>

#include "layers.h"
#include "resolve.h"

namespace loom::seatbelt {

// What can be said of a request before any path is looked at.
[[nodiscard]] Result<void> refuse_the_impossible(const PlanRequest& request);

// Required mounts whose source is absent.
[[nodiscard]] Result<void> refuse_missing_mounts(const ResolvedPolicy& policy);

// A mount and a protected path that overlap once their links are followed.
[[nodiscard]] Result<void> refuse_mounts_over_protected(const ResolvedPolicy& policy);

// A protected path that holds stage 2: nothing could be started.
[[nodiscard]] Result<void> refuse_protected_stage2(const ResolvedPolicy& policy);

// More arguments than the kernel takes.
[[nodiscard]] Result<void> refuse_too_large(const std::vector<std::string>& argv);

}  // namespace loom::seatbelt
