#pragma once

#include <loom/launch.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <functional>
#include <string>
#include <vector>

#include "host/spawn.h"

namespace loom::app {

// The child's ends of what connects it with the helper. All borrowed; -1 for what a launch does not
// use.
struct ChildStreams {
  int in = -1;
  int out = -1;
  int err = -1;
  int report = -1;
  int control = -1;
};

// The programs a launch may become, by handle; -1 for what this machine does not have.
struct ImageHandles {
  int launcher = -1;
  int stage2 = -1;
};

// Carries out one launch: makes its memory files, lends its handles and spawns. For an image of
// kCommand the program is looked up along PATH of the launch's environment, in the child.
// `while_held`: as SpawnRequest's; empty for a run without ceilings.
[[nodiscard]] Result<host::SpawnedChild> launch_child(const LaunchSpec& launch,
                                                      const ChildStreams& streams,
                                                      const ImageHandles& images,
                                                      std::function<void(pid_t)> while_held = {});

// Where `program` may lie: itself when it has a slash (made absolute by `cwd`), else one path for
// each entry of the PATH in `environment`. Pure.
[[nodiscard]] std::vector<std::string> command_candidates(
    const std::string& program, const std::string& cwd,
    const std::vector<std::string>& environment);

}  // namespace loom::app
