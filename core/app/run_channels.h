#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include "host/control_channel.h"

namespace loom::app {

// What connects the helper with one run. Nothing of it depends on the run, so that it can be made
// while nobody waits: a dozen system calls.
struct RunChannels {
  struct Pipe {
    UniqueFd ours;  // does not block
    UniqueFd childs;
  };
  Pipe in;
  Pipe out;
  Pipe err;
  Pipe report;  // like the rest, of launches with a stage 2
  host::ControlPair control;
  UniqueFd commit;   // for host::make_commit
  UniqueFd nothing;  // /dev/null, for a launcher whose own stdin is not the command's

  [[nodiscard]] static Result<RunChannels> make();
  // Only the command's own three streams.
  [[nodiscard]] static Result<RunChannels> make_streams();
};

}  // namespace loom::app
