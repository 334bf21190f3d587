#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_environment(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_descriptors(ProbeRig& rig);

}  // namespace loom::app
