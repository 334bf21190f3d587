#include "pinned_names.h"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "platform.h"
#include "spellings.h"

namespace loom::seatbelt {
namespace {

class Pinning {
 public:
  explicit Pinning(const Layers& layers)
      : names_{.directories = layers.written, .kept_absent = {}, .links = {}},
        regions_(layers.written.size()) {
    for (const AbsolutePath& region : layers.written) written_.insert(folded(region));
  }

  // Every directory above, up to the outermost writable region around the path.
  void add_ancestors(const AbsolutePath& path) {
    const std::string place = folded(path);
    std::size_t needed = 0;
    std::size_t steps = 0;
    for (std::string_view at = above(place); !at.empty(); at = above(at)) {
      ++steps;
      if (written_.contains(at)) needed = steps;
    }
    for (std::string_view at = above(path.str()); needed > 0; at = above(at), --needed) {
      if (seen_.insert(at).second) names_.directories.push_back(known_path(at));
    }
  }

  // Of what was added until now, besides the regions themselves.
  void keep_absent() {
    const auto first = names_.directories.begin() + static_cast<std::ptrdiff_t>(regions_);
    names_.kept_absent.assign(first, names_.directories.end());
  }

  void add_links(const Place& place) {
    for (const LinkFact& link : place.links) {
      if (!is_written(link.place.parent())) continue;
      names_.links.push_back(link.place);
      add_ancestors(link.place);
    }
  }

  void add_links(const std::vector<Place>& places) {
    for (const Place& place : places) add_links(place);
  }

  [[nodiscard]] PinnedNames take() {
    sort_unique(names_.directories);
    sort_unique(names_.kept_absent);
    sort_unique(names_.links);
    return std::move(names_);
  }

 private:
  [[nodiscard]] bool is_written(const AbsolutePath& directory) const {
    const std::string place = folded(directory);
    for (std::string_view at = place; !at.empty(); at = above(at)) {
      if (written_.contains(at)) return true;
    }
    return false;
  }

  PinnedNames names_;
  std::size_t regions_;
  std::set<std::string, std::less<>> written_;  // of the layers, folded
  std::unordered_set<std::string_view> seen_;   // of whatever paths were asked about
};

}  // namespace

PinnedNames pinned_names(const ResolvedPolicy& policy, const Layers& layers,
                         const std::vector<AbsolutePath>& hidden,
                         const std::vector<AbsolutePath>& excluded) {
  Pinning pinning(layers);
  for (const AbsolutePath& path : hidden) pinning.add_ancestors(path);
  for (const AbsolutePath& region : layers.denied) pinning.add_ancestors(region);
  pinning.keep_absent();
  for (const AbsolutePath& path : excluded) pinning.add_ancestors(path);
  pinning.add_links(policy.readable);
  pinning.add_links(policy.writable);
  pinning.add_links(policy.protected_paths);
  for (const MountPlace& mount : policy.mounts) pinning.add_links(mount.at);
  if (policy.host_scratch) pinning.add_links(*policy.host_scratch);
  pinning.add_links(policy.stage2);
  return pinning.take();
}

}  // namespace loom::seatbelt
