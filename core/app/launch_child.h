#pragma once

#include <loom/launch.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/memory_file.h"
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
  int nothing = -1;  // /dev/null: stdin of a child that sees the command's under another number
  // Where the child registers before it executes, and for which run (host::SpawnRequest).
  int caretaker = -1;
  std::uint64_t run = 0;
};

// A program that a launch may become: by handle, or, where the system executes none by handle, by
// path. Neither: this machine does not have it.
struct Image {
  int handle = -1;  // borrowed
  std::string path{};
  [[nodiscard]] bool is_there() const noexcept { return handle >= 0 || !path.empty(); }
};

// The programs a launch may become.
struct ImageHandles {
  Image launcher{};
  Image stage2{};
  // Limits that the helper changed for itself, as they were: what a launch gets that becomes the
  // command at once. Elsewhere stage 2 sees to it.
  std::vector<host::PlainLimit> given_back{};
  host::SignalSet signals = host::kEverySignal;  // as SpawnRequest's
};

// Carries out one launch: makes its memory files, or lends those of the last one, opens and lends
// its handles and spawns. A source that is no longer what it was planned for (guard/reopen.h) is an
// error before anything starts. For an image of kCommand the program is looked up along PATH of the
// launch's environment, in the child. `while_held`: as SpawnRequest's; empty for a run without
// ceilings.
[[nodiscard]] Result<host::SpawnedChild> launch_child(const LaunchSpec& launch,
                                                      const ChildStreams& streams,
                                                      const ImageHandles& images,
                                                      host::MemoryFiles& files,
                                                      std::function<void(pid_t)> while_held = {});

// Where `program` may lie: itself when it has a slash (made absolute by `cwd`), else one path for
// each entry of the PATH in `environment`. Pure.
[[nodiscard]] std::vector<std::string> command_candidates(
    const std::string& program, const std::string& cwd,
    const std::vector<std::string>& environment);

}  // namespace loom::app
