#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>

#include <string_view>
#include <unordered_map>
#include <vector>

namespace loom {

// One more name under which an object can be reached.
struct OtherName {
  AbsolutePath path;
  // Only a part of the object: a mount point that shows something inside it.
  bool part = false;
  friend bool operator==(const OtherName&, const OtherName&) = default;
};

// Finds the names that the mounts of the host give to one object (guard 5.4.6). Pure: it compares
// the text of the table and touches no path, so a dead mount holds nobody up. Borrows the table.
//
// `mounts` holds only mounts that can be reached (one that another covers is not in it), and with
// each mount every other one that lies below its point.
class MountNames {
 public:
  explicit MountNames(const std::vector<MountFact>& mounts);

  // Every other name of the object at `real`, and every mount point that shows a part of it; sorted
  // by path, each once, none of them `real` or below it. `real` is without links, and need not
  // exist.
  [[nodiscard]] std::vector<OtherName> of(const AbsolutePath& real) const;

 private:
  [[nodiscard]] const MountFact* around(const AbsolutePath& path) const;

  const std::vector<MountFact>* mounts_;
  std::unordered_map<std::string_view, const MountFact*> by_point_;
};

// `path`, which lies at or below `above`, moved to the same place below `to`.
[[nodiscard]] AbsolutePath moved(const AbsolutePath& path, const AbsolutePath& above,
                                 const AbsolutePath& to);

}  // namespace loom
