#pragma once

#include <loom/facts.h>

#include <vector>

namespace loom::bwrap {

// The directories of the host that the facts know, by path.
class HostDirectories {
 public:
  HostDirectories() = default;
  explicit HostDirectories(std::vector<DirectoryFact> facts);

  // Null when it does not exist, or was not looked at.
  [[nodiscard]] const DirectoryFact* find(const AbsolutePath& path) const noexcept;
  // Zero when find has nothing. Of a placeholder too.
  [[nodiscard]] FileIdentity identity(const AbsolutePath& path) const noexcept;
  // Whether a path above one that was surveyed is not there, or only as a placeholder.
  [[nodiscard]] bool lacks(const AbsolutePath& path) const noexcept;

 private:
  std::vector<DirectoryFact> sorted_;
};

}  // namespace loom::bwrap
