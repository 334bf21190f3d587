#pragma once

#include <loom/backend.h>
#include <loom/facts.h>
#include <loom/policy.h>

#include "host/installation.h"
#include "identity/admit_publication.h"

namespace loom::app {

// Looks at every path of the policy and has the platform's backend plan a jail for it. Nothing is
// launched, and it does not matter whether the backend's launcher is installed: what the policy
// means does not depend on that.
//
// A plan that the backend refuses is refused here (kNoPlan), with one exception. A protected path
// that does not exist would have to be made before it can be masked, and a plan may refuse that;
// here nothing is masked, so the plan is asked without them. They stay among the grounds.
[[nodiscard]] IdentityResult<PublicationGrounds> gather_grounds(const Policy& policy);

// The facts that gather_grounds plans for: this machine's, with the backend's launcher, and its
// stage 2 where an installation has it.
[[nodiscard]] Result<HostFacts> publication_facts(const JailBackend& backend,
                                                  const host::Installation& installation);

// The same by this backend and for a machine of these facts.
[[nodiscard]] IdentityResult<PublicationGrounds> grounds_by(JailBackend& backend,
                                                            const HostFacts& facts,
                                                            const Policy& policy);

}  // namespace loom::app
