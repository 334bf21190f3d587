#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/mount_table.h"

namespace loom::host {

// The mounts that a path can lead into. Pure: made of the text of a table, it touches no mount.
class ReachableMounts {
 public:
  explicit ReachableMounts(const std::vector<MountRow>& table);

  // In the table's order.
  [[nodiscard]] const std::vector<MountRow>& rows() const noexcept { return rows_; }
  // The mount that a path leads into; null when there is none.
  [[nodiscard]] const MountRow* around(const AbsolutePath& path) const;

  // What is needed to find other names of the objects at `reals` (loom/other_names.h): nothing,
  // nearly always. Else, in the table's order, every mount of a file system that one of them is on
  // and that is mounted more than once, and whatever is mounted below such a mount.
  [[nodiscard]] std::vector<MountFact> that_may_show_again(
      const std::vector<AbsolutePath>& reals) const;

  // Whether looking at `path` may wait for a server or a process that is gone: a mount on the way
  // there is of such a type. A mount of the file system that `than` is on does not count: whoever
  // asks has looked at that.
  [[nodiscard]] bool may_block_more(const AbsolutePath& path, const AbsolutePath& than) const;

 private:
  std::vector<MountRow> rows_;
  std::unordered_map<std::string, std::size_t> by_point_;
  std::unordered_set<std::string> repeated_;  // devices that are mounted more than once
};

// The mounts of this process, read again only when the kernel says that they changed.
class OwnMounts {
 public:
  // One system call when nothing changed. The first call opens the table. Valid until the next.
  [[nodiscard]] Result<const ReachableMounts*> now();
  // How often the table was read: two equal numbers, each asked for after now(), and no mount came
  // or went between, not even for a moment.
  [[nodiscard]] std::uint64_t readings() const noexcept { return readings_; }

 private:
  std::optional<MountTable> table_;
  std::optional<ReachableMounts> mounts_;
  std::uint64_t readings_ = 0;
};

}  // namespace loom::host
