#pragma once

#include <loom/facts.h>
#include <loom/features.h>

#include <memory>

#include "app/session.h"

namespace loom::app {

// What one plan needs to know of this machine: the session's facts, and what `survey` wants looked
// at, as it is now. Reads the host and changes nothing there. The object of the last time where
// everything is as it was then, but for the number of directories in a directory.
[[nodiscard]] Result<std::shared_ptr<const HostFacts>> gather_facts(Session& session,
                                                                    const Survey& survey);

}  // namespace loom::app
