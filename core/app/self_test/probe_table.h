#pragma once

#include <string_view>
#include <vector>

#include "app/self_test/probe_rig.h"

namespace loom::app {

struct Probe {
  const char* name;  // an interface
  Result<ProbeVerdict> (*run)(ProbeRig& rig);
};

// Every probe of a system, in the order in which they run. `os` as in HostFacts. Some look at what
// only Linux has, and a probe that could only ever be SKIPPED is none.
[[nodiscard]] std::vector<Probe> probe_table(std::string_view os);

}  // namespace loom::app
