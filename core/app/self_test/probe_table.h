#pragma once

#include <vector>

#include "app/self_test/probe_rig.h"

namespace loom::app {

struct Probe {
  const char* name;  // an interface
  Result<ProbeVerdict> (*run)(ProbeRig& rig);
};

// Every probe, in the order in which they run.
[[nodiscard]] const std::vector<Probe>& probe_table();

}  // namespace loom::app
