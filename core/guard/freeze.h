#pragma once

#include <loom/facts.h>

#include <string_view>
#include <vector>

#include "guard/walk_calls.h"

namespace loom::guard {

// What a path of a policy leads to now.
struct Frozen {
  PathFact fact;
  // Every existing directory above fact.real, the root first.
  std::vector<DirectoryFact> directories;
  // For each of fact.links every directory above it, the root first.
  std::vector<std::vector<FileIdentity>> link_directories{};

  bool operator==(const Frozen&) const = default;
};

// Walks a policy's path for planning. As walk(), but nothing refuses: a step that fails is a fact
// (kind kMissing, and the errno), procfs and devices are told as what they are, and placeholders
// count as missing. Enters automount points, so it may wait for one.
[[nodiscard]] Frozen freeze(const AbsolutePath& path);
[[nodiscard]] Frozen freeze(const AbsolutePath& path, const WalkCalls& calls);

// The real path of a text that may hold "..", which is walked as the kernel would walk it: up to
// where the walk fails; the rest is appended and cleaned. Fails like AbsolutePath::parse.
[[nodiscard]] Result<AbsolutePath> real_path(std::string_view text);

}  // namespace loom::guard
