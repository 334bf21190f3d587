#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_direct_socket(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_devices(ProbeRig& rig);

}  // namespace loom::app
