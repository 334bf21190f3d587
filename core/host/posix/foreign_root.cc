#include "host/foreign_root.h"

namespace loom::host {

std::optional<ForeignRoot> ForeignRoot::open(int) { return std::nullopt; }

std::optional<std::uint64_t> ForeignRoot::mount_at(const AbsolutePath&) const {
  return std::nullopt;
}

}  // namespace loom::host
