#pragma once

#include <string_view>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

inline constexpr std::string_view kCanary = "LOOM_SECRET_CANARY";
inline constexpr std::string_view kListing = "listing";
inline constexpr std::string_view kMarkedListing = "marked-listing";

// A payload that printed its environment.
[[nodiscard]] ProbeVerdict judge_environment(const ProbeRun& run);

// A payload that listed its descriptors twice: as they were (kListing), and with one more that it
// had opened as `mark` (kMarkedListing).
[[nodiscard]] ProbeVerdict judge_descriptors(const ProbeRun& run, std::string_view mark);

}  // namespace loom::app
