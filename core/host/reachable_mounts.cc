#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "host/own_mounts.h"

namespace loom::host {

namespace {

// File systems behind which stands a server, or a process of anybody's.
constexpr std::array<std::string_view, 16> kBlockingTypes = {
    "9p",   "afs",       "autofs", "beegfs", "ceph", "cifs", "coda",  "fuse",
    "gfs2", "glusterfs", "lustre", "ncpfs",  "nfs",  "nfs4", "ocfs2", "smb3"};

bool may_block(std::string_view type) noexcept {
  return type.starts_with("fuse.") ||
         std::binary_search(kBlockingTypes.begin(), kBlockingTypes.end(), type);
}

// `path` and every directory above it, "/" first.
std::vector<std::string_view> prefixes(const AbsolutePath& path) {
  const std::string_view text = path.str();
  std::vector<std::string_view> all = {text.substr(0, 1)};
  for (std::size_t end = 1; end < text.size();) {
    end = std::min(text.find('/', end + 1), text.size());
    all.push_back(text.substr(0, end));
  }
  return all;
}

// Follows a path through the tree of mounts as the kernel does: at every mount point it enters what
// is mounted there, and what is mounted upon that.
class MountTree {
 public:
  explicit MountTree(const std::vector<MountRow>& table) {
    std::unordered_set<std::uint64_t> ids;
    for (const MountRow& row : table) ids.insert(row.id);
    for (const MountRow& row : table) {
      // The parent of the first mount is nobody's business, and not in the table.
      const bool known = row.parent != row.id && ids.contains(row.parent);
      children_[{known ? std::optional(row.parent) : std::nullopt, row.point.str()}] = row.id;
    }
  }

  // The mount that a path leads into.
  [[nodiscard]] std::optional<std::uint64_t> at(const AbsolutePath& path) const {
    std::optional<std::uint64_t> here;
    for (const std::string_view prefix : prefixes(path)) {
      for (auto next = children_.find({here, prefix}); next != children_.end();
           next = children_.find({here, prefix})) {
        here = next->second;
      }
    }
    return here;
  }

 private:
  // Parent and mount point; borrows the table's text.
  std::map<std::pair<std::optional<std::uint64_t>, std::string_view>, std::uint64_t> children_;
};

}  // namespace

ReachableMounts::ReachableMounts(const std::vector<MountRow>& table) {
  const MountTree tree(table);
  std::unordered_set<std::string> seen;
  for (const MountRow& row : table) {
    if (tree.at(row.point) != row.id) continue;
    by_point_.emplace(row.point.str(), rows_.size());
    rows_.push_back(row);
    if (!seen.insert(row.device).second) repeated_.insert(row.device);
  }
}

const MountRow* ReachableMounts::around(const AbsolutePath& path) const {
  for (AbsolutePath at = path;; at = at.parent()) {
    if (const auto found = by_point_.find(at.str()); found != by_point_.end()) {
      return &rows_[found->second];
    }
    if (at.is_root()) return nullptr;
  }
}

std::vector<MountFact> ReachableMounts::that_may_show_again(
    const std::vector<AbsolutePath>& reals) const {
  if (repeated_.empty()) return {};
  std::unordered_set<std::string_view> devices;
  for (const AbsolutePath& real : reals) {
    const MountRow* const own = around(real);
    if (own != nullptr && repeated_.contains(own->device)) devices.insert(own->device);
  }
  std::unordered_set<std::string> points;
  for (const MountRow& row : rows_) {
    if (devices.contains(row.device)) points.insert(row.point.str());
  }
  const auto is_wanted = [&points](const MountRow& row) {
    for (AbsolutePath at = row.point;; at = at.parent()) {
      if (points.contains(at.str())) return true;
      if (at.is_root()) return false;
    }
  };
  std::vector<MountFact> facts;
  for (const MountRow& row : rows_) {
    if (!points.empty() && is_wanted(row)) {
      facts.push_back({.point = row.point, .root = row.root, .device = row.device});
    }
  }
  return facts;
}

bool ReachableMounts::may_block_more(const AbsolutePath& path, const AbsolutePath& than) const {
  const MountRow* const known = around(than);
  for (AbsolutePath at = path;; at = at.parent()) {
    const auto found = by_point_.find(at.str());
    if (found != by_point_.end()) {
      const MountRow& row = rows_[found->second];
      const bool looked_at = known != nullptr && row.device == known->device;
      if (may_block(row.type) && !looked_at) return true;
    }
    if (at.is_root()) return false;
  }
}

}  // namespace loom::host
