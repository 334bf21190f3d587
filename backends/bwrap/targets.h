#pragma once

#include <loom/backend.h>

namespace loom::bwrap {

// Whom to signal. Under bubblewrap the polite signal goes to what runs below the supervisor and,
// where the jail has a pid namespace, the namespace's first process. They are found by descent: the
// supervisor's death would kill the jail at once, and group membership proves nothing, as a command
// may leave the group. Asks `host` for the
// children of a process to learn whether the table was complete; an incomplete table means the
// whole group.
[[nodiscard]] Targets targets(const TargetsRequest& request, HostServices& host);

}  // namespace loom::bwrap
