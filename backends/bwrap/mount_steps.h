#pragma once

#include <loom/plan.h>

#include <cstddef>
#include <vector>

#include "run_memo.h"

namespace loom::bwrap {

// A source that bubblewrap is given by handle.
struct LentSource {
  std::size_t index;  // of its operation in the view
  int number;         // of the descriptor in bubblewrap, which closes it after the mount
  AbsolutePath path;  // on the host, without links
};

// One for each bind of the view that has a source, in the view's order; nothing where mounts are by
// name (D4). Each has a number of its own: bubblewrap cannot use one twice.
[[nodiscard]] std::vector<LentSource> lent_sources(const std::vector<MountOperation>& view,
                                                   const RunMemo& memo);

// The operations of a view as bubblewrap carries them out. Indices into the view; those without a
// source are left out.
struct MountSteps {
  std::vector<std::size_t> first;
  // Those whose mount point lies inside a region that the command can write. While bubblewrap
  // resolves such a name, a process that can write there may exchange it for a link, and bubblewrap
  // makes the mount point wherever the link leads. So before the first of them the host's tree is
  // covered, with all sources laid aside: nothing of the host's but what the jail shows anyway can
  // be reached then. Empty where mounts are by name, and where "/" itself is such a region.
  std::vector<std::size_t> exposed;
  // Those of `exposed` whose mount point is on the host already. bubblewrap reaches it through a
  // link of ours, and makes no directory where a link leads nowhere: what somebody removes while
  // the jail is built does not come back.
  std::vector<std::size_t> linked;
};

// Where the link of such an operation leads: to its region, or, for the mask of a file, to the
// directory that holds it, because creat(2) follows a link. One link serves all files of a
// directory.
[[nodiscard]] AbsolutePath link_target(const MountOperation& operation);

[[nodiscard]] MountSteps mount_steps(const std::vector<MountOperation>& view, const RunMemo& memo);

// How many words of bubblewrap's options there are besides the canonical ones.
[[nodiscard]] std::size_t further_arguments(const std::vector<MountOperation>& view,
                                            const RunMemo& memo);

}  // namespace loom::bwrap
