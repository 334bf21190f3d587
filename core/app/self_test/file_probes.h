#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

// Each probe runs its payloads and judges what it saw. An error is a FAILED with that text.
[[nodiscard]] Result<ProbeVerdict> probe_outside_write(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_masks(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_state_root(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_unnamed_path(ProbeRig& rig);

}  // namespace loom::app
