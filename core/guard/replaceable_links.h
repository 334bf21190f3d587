#pragma once

#include <loom/other_names.h>

#include <optional>
#include <vector>

#include "guard/freeze.h"
#include "guard/snapshot.h"

namespace loom::guard {

// Which links on the way of a policy's path the command can replace, or may have: those that lie
// where a jail lets it write, under whatever name. Borrows the grounds' mounts.
class ReplaceableLinks {
 public:
  explicit ReplaceableLinks(const FreezeGrounds& grounds);

  // All regions of the policy, before the first question.
  void add(PolicyRegion region);

  [[nodiscard]] bool any_on_the_way_of(const Frozen& frozen);
  // Whether the command can write what the path leads to, or could before.
  [[nodiscard]] bool can_be_planted(const Frozen& frozen);
  // What else the host's mounts call an object, and where they show a part of it.
  [[nodiscard]] std::vector<OtherName> other_names_of(const AbsolutePath& real) const;

 private:
  [[nodiscard]] std::vector<AbsolutePath> names_of(
      const AbsolutePath& directory, const std::vector<FileIdentity>& from_root) const;
  [[nodiscard]] bool is_written(const AbsolutePath& path);
  [[nodiscard]] bool is_floor_within(const AbsolutePath& region, const AbsolutePath& path);

  std::vector<AbsolutePath> floor_;
  std::vector<AbsolutePath> written_before_;  // real
  std::optional<std::vector<AbsolutePath>> real_floor_;
  std::optional<MountNames> mounts_;
  std::vector<PolicyRegion> regions_;
};

}  // namespace loom::guard
