#include "host_directories.h"

#include <algorithm>
#include <utility>

namespace loom::bwrap {
namespace {

bool by_path(const DirectoryFact& a, const DirectoryFact& b) { return a.path < b.path; }

}  // namespace

HostDirectories::HostDirectories(std::vector<DirectoryFact> facts) : sorted_(std::move(facts)) {
  if (!std::is_sorted(sorted_.begin(), sorted_.end(), by_path)) {
    std::sort(sorted_.begin(), sorted_.end(), by_path);
  }
}

const DirectoryFact* HostDirectories::find(const AbsolutePath& path) const noexcept {
  const auto at = std::lower_bound(
      sorted_.begin(), sorted_.end(), path,
      [](const DirectoryFact& fact, const AbsolutePath& wanted) { return fact.path < wanted; });
  return at == sorted_.end() || at->path != path ? nullptr : &*at;
}

FileIdentity HostDirectories::identity(const AbsolutePath& path) const noexcept {
  const DirectoryFact* const fact = find(path);
  return fact == nullptr ? FileIdentity{} : fact->identity;
}

bool HostDirectories::lacks(const AbsolutePath& path) const noexcept {
  const DirectoryFact* const fact = find(path);
  return fact == nullptr || fact->placeholder;
}

}  // namespace loom::bwrap
