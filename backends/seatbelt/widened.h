#pragma once

#include <loom/plan.h>

#include <string>
#include <vector>

#include "resolve.h"

namespace loom::seatbelt {

// What undoes a policy's roots, each once and in byte order. A root that does not exist counts: its
// rules hold for whatever gets the name.
struct Widened {
  // Mounts, and a scratch of the policy's: Audit::widened.
  std::vector<std::string> entries{};
  // The user's directories, which every run may write: no skip, or a policy that names $TMPDIR as
  // readable would fail every demand. Entries for Audit::extras.
  std::vector<std::string> remarks{};
};
[[nodiscard]] Widened widened_roots(const ResolvedPolicy& policy,
                                    const std::vector<MountOperation>& view);

}  // namespace loom::seatbelt
