#pragma once

#include <loom/features.h>

#include <string_view>

namespace loom::bwrap {

// A path of our own that is clean by construction.
[[nodiscard]] AbsolutePath known_path(std::string_view text);

// Every path the policy names, the system roots, and where the scratch lies.
[[nodiscard]] Survey survey(const SurveyRequest& request);

}  // namespace loom::bwrap
