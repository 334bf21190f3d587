#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_landlock(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_privileges(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_refused_calls(ProbeRig& rig);

}  // namespace loom::app
