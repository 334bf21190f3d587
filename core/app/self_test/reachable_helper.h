#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>

#include <optional>

#include "app/self_test/probe_directory.h"
#include "app/self_test/probe_rig.h"

namespace loom::app {

// Whether this user may search every directory above `path` without any privilege, as a payload
// must: the superuser's own looks do not tell. Access control lists are not asked.
[[nodiscard]] bool is_reachable_without_privilege(const AbsolutePath& path);

// Where only privilege leads to the helper (root runs it from somebody's home), puts a copy in its
// place for the rig's payloads; the copy lives as long as what is returned.
[[nodiscard]] Result<std::optional<ProbeDirectory>> make_helper_reachable(ProbeRig& rig);

}  // namespace loom::app
