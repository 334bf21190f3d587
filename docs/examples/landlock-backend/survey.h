#pragma once

#include <loom/features.h>

namespace landlock {

// Which paths the host must look at.
[[nodiscard]] loom::Survey survey(const loom::SurveyRequest& request);

}  // namespace landlock
