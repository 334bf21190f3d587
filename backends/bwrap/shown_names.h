#pragma once

#include <loom/plan.h>
#include <loom/view_replay.h>

#include <vector>

#include "resolve.h"

namespace loom::bwrap {

// One more place where a view shows a protected object, or a part of it. A mask laid in one mount
// of an object does not show in another mount of it (guard 5.4.6).
struct ShownName {
  const NamedPath* hidden;  // borrowed from the policy
  AbsolutePath region;      // in the jail
  PathKind kind;            // of what is there; kMissing: nothing, or not known
  FileIdentity identity;    // of what is there; zero: not known
};

// Every place but the protected paths' own where `grants`, the view without masks and pins, shows
// them: through system roots that are links, and through bind mounts of the host's. In the order of
// the policy's list, then of the names.
[[nodiscard]] std::vector<ShownName> shown_names(const ResolvedPolicy& policy,
                                                 const std::vector<MountOperation>& grants);

// A directory of the jail as the host has it. Borrows both.
class ShownDirectories {
 public:
  ShownDirectories(const ResolvedPolicy& policy, const ViewReplay& replay)
      : policy_(&policy), replay_(&replay) {}

  // Zero: the view shows none of the host's there, or it is not there, or was not looked at.
  [[nodiscard]] FileIdentity identity(const AbsolutePath& directory) const;
  // Where the host has it; the path itself where the view shows none of the host's.
  [[nodiscard]] AbsolutePath host_path(const AbsolutePath& directory) const;

 private:
  const ResolvedPolicy* policy_;
  const ViewReplay* replay_;
};

}  // namespace loom::bwrap
