#include <loom/check.h>
#include <loom/other_names.h>

#include <algorithm>
#include <string>

namespace loom {

AbsolutePath moved(const AbsolutePath& path, const AbsolutePath& above, const AbsolutePath& to) {
  const std::string_view rest =
      std::string_view(path.str()).substr(above.is_root() ? 0 : above.str().size());
  if (rest.empty() || rest == "/") return to;
  auto result =
      AbsolutePath::parse(to.is_root() ? std::string(rest) : to.str() + std::string(rest));
  LOOM_CHECK(result.has_value());
  return *std::move(result);
}

MountNames::MountNames(const std::vector<MountFact>& mounts) : mounts_(&mounts) {
  by_point_.reserve(mounts.size());
  for (const MountFact& mount : mounts) by_point_.insert_or_assign(mount.point.str(), &mount);
}

// The mount whose root or inside `path` is; null when the table holds none.
const MountFact* MountNames::around(const AbsolutePath& path) const {
  for (std::string_view at = path.str();;) {
    if (const auto found = by_point_.find(at); found != by_point_.end()) return found->second;
    if (at.size() == 1) return nullptr;
    at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1));
  }
}

std::vector<OtherName> MountNames::of(const AbsolutePath& real) const {
  const MountFact* const own = around(real);
  if (own == nullptr) return {};
  // Where the object is in its file system.
  const AbsolutePath inside = moved(real, own->point, own->root);
  std::vector<OtherName> names;
  for (const MountFact& mount : *mounts_) {
    if (mount.device != own->device) continue;
    if (inside.is_within(mount.root)) {
      AbsolutePath name = moved(inside, mount.root, mount.point);
      // Another mount may lie over that name.
      if (around(name) == &mount) names.push_back({.path = std::move(name), .part = false});
    } else if (mount.root.is_within(inside)) {
      names.push_back({.path = mount.point, .part = true});
    }
  }
  std::erase_if(names, [&real](const OtherName& name) { return name.path.is_within(real); });
  std::sort(names.begin(), names.end(),
            [](const OtherName& a, const OtherName& b) { return a.path < b.path; });
  return names;
}

}  // namespace loom
