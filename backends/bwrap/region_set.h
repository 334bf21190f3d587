#pragma once

#include <loom/absolute_path.h>

#include <string_view>
#include <unordered_set>

namespace loom::bwrap {

// Regions that can be asked whether they cover a path, in the time of the path's depth. Borrows the
// text of what is inserted.
class RegionSet {
 public:
  void insert(const AbsolutePath& region) { regions_.insert(region.str()); }

  // Whether the path or a directory above it is in the set.
  [[nodiscard]] bool covers(const AbsolutePath& path) const;

 private:
  std::unordered_set<std::string_view> regions_;
};

}  // namespace loom::bwrap
