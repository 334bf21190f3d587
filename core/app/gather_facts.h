#pragma once

#include <loom/facts.h>
#include <loom/features.h>

#include "app/session.h"

namespace loom::app {

// What one plan needs to know of this machine: the session's facts, and what `survey` wants looked
// at, as it is now. Reads the host and changes nothing there.
[[nodiscard]] Result<HostFacts> gather_facts(Session& session, const Survey& survey);

}  // namespace loom::app
