#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_fork_bomb(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_flood(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_file_ceiling(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_memory_ceiling(ProbeRig& rig);

}  // namespace loom::app
