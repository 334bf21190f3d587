#pragma once

#include <loom/absolute_path.h>

#include <optional>

#include "guard/freeze.h"
#include "law/rule.h"

namespace loom::guard {

// Every place that an excluded path holds.
struct FrozenExclusion {
  Frozen frozen;
  law::Place place;  // where the path leads
  // Where links were on the way: the last name in the directory that it is in, which is a link or
  // `place` itself. Nothing in that case, and where there was none.
  std::optional<law::Place> name{};
};

[[nodiscard]] FrozenExclusion freeze_exclusion(const AbsolutePath& written);

}  // namespace loom::guard
