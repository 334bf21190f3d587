#pragma once

#include <loom/facts.h>
#include <loom/plan.h>
#include <loom/policy.h>

#include <vector>

#include "host_directories.h"

namespace loom::bwrap {

// A path of the policy, or a system root, together with what this machine says about it.
struct NamedPath {
  AbsolutePath written;  // as the policy spells it; printed, never compared
  AbsolutePath real;     // links followed: the deepest existing prefix, the rest appended
  PathKind kind = PathKind::kMissing;
  FileIdentity identity;  // when missing, of the placeholder that is there, or zero
  FileIdentity
      parent_identity;  // of the directory that holds real's last component; zero if absent
  std::uint64_t link_count = 0;  // hard links of the object
  std::vector<LinkFact> links;   // met on the way
  int error = 0;                 // errno when missing

  [[nodiscard]] bool is_missing() const noexcept { return kind == PathKind::kMissing; }
};

struct NamedMount {
  NamedPath at;
  bool writable = false;
  bool required = false;
};

// A policy whose paths have been looked up.
struct ResolvedPolicy {
  std::vector<NamedPath> system_roots;
  std::vector<NamedPath> readable;
  std::vector<NamedPath> writable;
  std::vector<NamedPath> protected_paths;
  std::vector<NamedMount> mounts;
  NamedPath scratch;  // the host's path, or where the tmpfs goes
  bool scratch_is_tmpfs = true;
  HostDirectories directories;         // on the way to all of these
  std::vector<MountFact> host_mounts;  // what may show a protected path a second time
  // Of a launch of version 3: what its exec table admits, which must be readable, and whether masks
  // of directories are closed.
  std::vector<ExecRule> admitted{};
  bool closed_masks = false;

  // Whether a root or the scratch is "/" itself, so that the host's own links are in the view.
  [[nodiscard]] bool shows_whole_host() const noexcept;

  // What a bind at `region` shows: the region itself, unless it is where a system root that is a
  // link has its name.
  [[nodiscard]] const AbsolutePath& source_at(const AbsolutePath& region) const noexcept;
};

// A path that the facts do not know counts as missing under its own name. So does a placeholder
// that a protected path of the policy is or lies in; any other is a directory.
[[nodiscard]] ResolvedPolicy resolve(const Policy& policy, const HostFacts& facts);

}  // namespace loom::bwrap
