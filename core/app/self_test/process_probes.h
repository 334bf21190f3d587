#pragma once

#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_orphan(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_setsid_escape(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_heartbeat(ProbeRig& rig);

}  // namespace loom::app
