#pragma once

#include <loom/plan.h>
#include <loom/result.h>
#include <loom/view_replay.h>

#include <string>
#include <vector>

#include "resolve.h"
#include "run_memo.h"
#include "to_make.h"

namespace loom::bwrap {

// What stands between a policy and its jail. Each refusal is kDenied and names every path it is
// about; plan asks them in this order, and the first one that refuses wins.

// A required mount whose source is not there. The only one that holds without bubblewrap, too.
[[nodiscard]] Result<void> refuse_missing_mounts(const ResolvedPolicy& policy);

// A protected path at or above /proc: stage 2 is started through the jail's own /proc.
[[nodiscard]] Result<void> refuse_protected_proc(const ResolvedPolicy& policy);
// Mounts at, above or below /proc: the host's would cover the jail's own.
[[nodiscard]] Result<void> refuse_host_proc(const ResolvedPolicy& policy);

// A mount that meets a protected path, or one of the names that the host's own mounts give it, once
// links are followed. The decoder compares only the spelling, and a mount is laid after the masks.
[[nodiscard]] Result<void> refuse_mounts_over_masks(const ResolvedPolicy& policy);

// Paths that go through a link which lies where the command can replace it. With an absent target
// they are refused; with an existing one they are returned as what the audit must say: "mounts: …".
[[nodiscard]] Result<std::vector<std::string>> judge_links(const ResolvedPolicy& policy,
                                                           const ViewReplay& replay);

// Absent protected paths whose mask finds no mount point: their directory is read-only in the view,
// and `to_make` does not have them.
[[nodiscard]] Result<void> refuse_unmountable(const std::vector<MountOperation>& view,
                                              const ViewReplay& replay,
                                              const ProtectedPaths& hidden,
                                              const std::vector<MadeName>& to_make);

// Masks and pins in a directory of the host's that the facts do not know, so that stage 2 could not
// tell whether it was exchanged. Not before the names to make are made.
[[nodiscard]] Result<void> refuse_unlooked(const std::vector<MountOperation>& view,
                                           const ViewReplay& replay);

// Writable roots and a scratch of the host that are not there.
[[nodiscard]] Result<void> refuse_missing_sources(const ResolvedPolicy& policy);

// What this machine's bubblewrap cannot build, found by trying: a network of the jail's own where
// the policy cuts the network, and a process table of its own where no Landlock keeps the host's
// processes from being looked into. kUnsupported, in bubblewrap's own words.
[[nodiscard]] Result<void> refuse_unbuildable(const RunMemo& memo);

// What a policy of version 3 promises and this machine cannot hold: kUnsupported, beginning with
// "confinement_unavailable: ". `required`: whether that includes the exec table.
[[nodiscard]] Result<void> refuse_unconfinable(const RunMemo& memo, bool required);

// bubblewrap takes 9,000 arguments at most, its own name and the command included.
[[nodiscard]] Result<void> refuse_too_many_arguments(std::size_t arguments);

}  // namespace loom::bwrap
