#include "guard/replaceable_links.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace loom::guard {
namespace {

// Each directory above a path and the path itself, the root first.
std::vector<AbsolutePath> from_root_to(const AbsolutePath& path) {
  std::vector<AbsolutePath> paths{path};
  while (!paths.back().is_root()) paths.push_back(paths.back().parent());
  std::reverse(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ReplaceableLinks::ReplaceableLinks(const FreezeGrounds& grounds) : floor_(grounds.floor) {
  if (grounds.mounts != nullptr) mounts_.emplace(*grounds.mounts);
  for (const AbsolutePath& region : grounds.written_before) {
    written_before_.push_back(freeze(region).fact.real);
  }
}

void ReplaceableLinks::add(PolicyRegion region) { regions_.push_back(std::move(region)); }

bool ReplaceableLinks::any_on_the_way_of(const Frozen& frozen) {
  const std::vector<LinkFact>& links = frozen.fact.links;
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (const AbsolutePath& name : names_of(links[i].place.parent(), frozen.link_directories[i])) {
      if (is_written(name)) return true;
    }
  }
  return false;
}

std::vector<OtherName> ReplaceableLinks::other_names_of(const AbsolutePath& real) const {
  return mounts_ ? mounts_->of(real) : std::vector<OtherName>();
}

// The object's own name, those by way of a region that a bind mount shows on the way to it, and
// those that the mounts give it.
std::vector<AbsolutePath> ReplaceableLinks::names_of(
    const AbsolutePath& directory, const std::vector<FileIdentity>& from_root) const {
  std::vector<AbsolutePath> names{directory};
  const std::vector<AbsolutePath> above = from_root_to(directory);
  for (std::size_t i = 0; i < above.size() && i < from_root.size(); ++i) {
    for (const PolicyRegion& region : regions_) {
      if (region.identity != from_root[i] || region.real == above[i]) continue;
      names.push_back(moved(directory, above[i], region.real));
    }
  }
  if (!mounts_) return names;
  for (OtherName& other : mounts_->of(directory)) {
    if (!other.part) names.push_back(std::move(other.path));
  }
  return names;
}

bool ReplaceableLinks::can_be_planted(const Frozen& frozen) {
  const std::vector<AbsolutePath> names = names_of(frozen.fact.real, {});
  return std::any_of(names.begin(), names.end(),
                     [this](const AbsolutePath& name) { return is_written(name); });
}

// A read-only region further in says nothing: it may have been absent, and so writable, before.
bool ReplaceableLinks::is_written(const AbsolutePath& path) {
  for (const AbsolutePath& region : written_before_) {
    if (path.is_within(region) && !is_floor_within(region, path)) return true;
  }
  return std::any_of(regions_.begin(), regions_.end(), [&](const PolicyRegion& region) {
    return region.writable && path.is_within(region.real) && !is_floor_within(region.real, path);
  });
}

// Whether the floor shows the path read-only, further in than the region does. Only where the whole
// host is shown are the floor's own links followed (docs/jail.md 4.4).
bool ReplaceableLinks::is_floor_within(const AbsolutePath& region, const AbsolutePath& path) {
  if (region.is_root() && !real_floor_) {
    real_floor_.emplace();
    for (const AbsolutePath& written : floor_) real_floor_->push_back(freeze(written).fact.real);
  }
  const std::vector<AbsolutePath>& shown = region.is_root() ? *real_floor_ : floor_;
  return std::any_of(shown.begin(), shown.end(), [&](const AbsolutePath& floor) {
    return path.is_within(floor) && floor != region && floor.is_within(region);
  });
}

}  // namespace loom::guard
