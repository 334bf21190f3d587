#pragma once

#include <loom/backend.h>

#include <functional>
#include <string>

#include "kernel_facts.h"

namespace loom::bwrap {

// What of this machine explains bubblewrap's words; read only when there is something to explain.
struct Surroundings {
  // sysctl kernel.apparmor_restrict_unprivileged_userns is 1, and applies to this user
  bool restricts_namespaces = false;
  // one of /proc/sys/user/max_*_namespaces is 0, so that ENOSPC will not pass
  bool forbids_namespaces = false;
};

// Tries what the pinned bubblewrap can do here: one launch of everything at once, whose command is
// a stage 2 without work (it says so and exits 126). A few milliseconds. Only when that fails, more
// launches, until it is known which parts fail.
//
// An error when it cannot be known now: bubblewrap did not end within ten seconds, or ran out of
// processes, memory, descriptors or namespaces. What is not known must not be taken for "no": that
// would choose the weaker jail of a busy machine.
//
// A launcher that fails without bubblewrap's own words ("bwrap: …") is not believed either: nothing
// is left out for it, and the runs that it spoils claim nothing.
[[nodiscard]] Result<LauncherFacts> probe_launcher(HostServices& host,
                                                   const std::function<Surroundings()>& look);

// The launch that a trial makes: everything but what `facts` has a reason to leave out. `source` is
// the object that is mounted.
[[nodiscard]] LaunchSpec trial_launch(const LauncherFacts& facts, const FileIdentity& source);

}  // namespace loom::bwrap
