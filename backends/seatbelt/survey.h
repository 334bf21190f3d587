#pragma once

#include <loom/features.h>
#include <loom/result.h>

namespace loom::seatbelt {

// Every path that the profile will speak of.
[[nodiscard]] Result<Survey> survey(const SurveyRequest& request);

}  // namespace loom::seatbelt
