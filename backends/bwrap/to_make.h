#pragma once

#include <loom/plan.h>
#include <loom/result.h>
#include <loom/view_replay.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "resolve.h"

namespace loom::bwrap {

// Which entry of the policy a mask is for. Borrows the policy.
class ProtectedPaths {
 public:
  explicit ProtectedPaths(const ResolvedPolicy& policy);

  // Null when the operation is no mask.
  [[nodiscard]] const NamedPath* behind(const MountOperation& operation) const noexcept;

 private:
  std::unordered_map<std::string_view, const NamedPath*> by_spelling_;
};

// The names that must be on the host for the masks of `view` over absent paths (D12): those that
// the command could make, and the directories on the way that are not there, or only as
// placeholders. A parent comes before what lies in it. Below a tmpfs of the jail's own nothing is
// needed.
//
// Refuses with kDenied, by name, a path of which it is not known that it is absent.
[[nodiscard]] Result<std::vector<MadeName>> names_to_make(const ResolvedPolicy& policy,
                                                          const std::vector<MountOperation>& view,
                                                          const ViewReplay& replay,
                                                          const ProtectedPaths& hidden);

// Whether the facts that the policy was resolved with know each of these names as a placeholder.
[[nodiscard]] bool are_made(const ResolvedPolicy& policy, const std::vector<MadeName>& to_make);

}  // namespace loom::bwrap
