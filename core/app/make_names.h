#pragma once

#include <loom/facts.h>
#include <loom/plan.h>
#include <loom/result.h>

#include <vector>

#include "app/session.h"
#include "host/caretaker.h"

namespace loom::app {

// Has the caretaker make what a plan needs on the host (D12). `facts` are those it was made for.
// kDenied: a name is not as they say any more; look again. Every other error is a refusal.
[[nodiscard]] Result<host::MadeNames> make_names(Session& session,
                                                 const std::vector<MadeName>& names,
                                                 const HostFacts& facts);

// Whether facts that were gathered afterwards show exactly what was made: each of `names` as a
// placeholder, and the one that the caretaker holds.
[[nodiscard]] bool shows_made_names(const HostFacts& facts, const std::vector<MadeName>& names,
                                    const std::vector<FileIdentity>& made);

}  // namespace loom::app
