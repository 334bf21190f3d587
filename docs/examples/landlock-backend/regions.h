#pragma once

#include <loom/absolute_path.h>

#include <string_view>
#include <unordered_map>

#include "places.h"

namespace landlock {

// Finds the place at a path or above it, in as many steps as the path has components. Borrows what
// is put into it.
class Regions {
 public:
  void insert(const Place& place) { at_.try_emplace(place.real.str(), &place); }

  // The nearest one, or null.
  [[nodiscard]] const Place* at_or_above(const loom::AbsolutePath& path) const {
    return find(path.str());
  }
  [[nodiscard]] const Place* above(const loom::AbsolutePath& path) const {
    return path.is_root() ? nullptr : find(parent_of(path.str()));
  }

 private:
  static std::string_view parent_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == 0 ? 1 : slash);
  }
  [[nodiscard]] const Place* find(std::string_view path) const {
    for (;; path = parent_of(path)) {
      if (const auto found = at_.find(path); found != at_.end()) return found->second;
      if (path.size() == 1) return nullptr;
    }
  }

  std::unordered_map<std::string_view, const Place*> at_;
};

}  // namespace landlock
