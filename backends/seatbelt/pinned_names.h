#pragma once

#include <loom/absolute_path.h>

#include <vector>

#include "layers.h"
#include "resolve.h"

namespace loom::seatbelt {

// Names that the command must not take away, because the rules of a profile are about names: with
// its parent moved, a protected file would have a name that no rule holds.
struct PinnedNames {
  // Writable regions, and directories in them above something that is less than writable.
  std::vector<AbsolutePath> directories{};
  // Those of them that must not be made either, where they are absent: a directory that is moved
  // there, or a link, would bring what a protected path, which is absent too, is to hold.
  std::vector<AbsolutePath> kept_absent{};
  // Links in writable regions through which a path of the policy, or stage 2, was reached:
  // replaced, the next run's rules would be about something else.
  std::vector<AbsolutePath> links{};
};

// `hidden`: protected paths; `excluded`: what an exec table denies. Besides these the regions that
// the layers deny.
[[nodiscard]] PinnedNames pinned_names(const ResolvedPolicy& policy, const Layers& layers,
                                       const std::vector<AbsolutePath>& hidden,
                                       const std::vector<AbsolutePath>& excluded);

}  // namespace loom::seatbelt
