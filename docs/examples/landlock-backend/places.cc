#include "places.h"

#include <loom/utf8.h>

#include <algorithm>
#include <tuple>

#include "floor.h"

namespace landlock {
namespace {

using loom::AbsolutePath;
using loom::PathRole;

Place look(const loom::HostFacts& facts, const AbsolutePath& path, PathRole role) {
  Place place{.role = role, .written = path, .real = path};
  const loom::PathFact* const fact = facts.find(path);
  if (fact == nullptr) return place;
  place.real = fact->real;
  place.kind = fact->kind;
  place.identity = fact->identity;
  place.parent_identity = fact->parent_identity;
  place.link_count = fact->link_count;
  place.links = fact->links;
  place.error = fact->error;
  return place;
}

const char* noun(PathRole role) {
  switch (role) {
    case PathRole::kSystemRoot:
    case PathRole::kPiece:
      return "system root ";
    case PathRole::kReadableRoot:
      return "readable root ";
    case PathRole::kWritableRoot:
      return "writable root ";
    case PathRole::kProtected:
      return "protected path ";
    case PathRole::kMount:
      return "mount ";
    case PathRole::kScratch:
      return "scratch ";
  }
  return "";
}

void sort_places(std::vector<Place>& places) {
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.real, a.role, a.writable, a.written) <
           std::tie(b.real, b.role, b.writable, b.written);
  });
}

}  // namespace

bool is_writable(const Place& place) {
  return place.role == PathRole::kWritableRoot || place.role == PathRole::kScratch ||
         (place.role == PathRole::kMount && place.writable);
}

std::string described(const Place& place) {
  std::string words = noun(place.role) + loom::escaped(place.written.str(), 512);
  if (place.real != place.written) words += " (" + loom::escaped(place.real.str(), 512) + ")";
  return words;
}

Places find_places(const loom::PlanRequest& request) {
  const loom::Policy& policy = request.policy;
  Places places;
  const auto grant = [&](const AbsolutePath& path, PathRole role) -> Place& {
    return places.grants.emplace_back(look(request.facts, path, role));
  };
  for (const std::string_view root : kSystemRoots) grant(known_path(root), PathRole::kSystemRoot);
  for (const std::string_view device : kDevices) {
    grant(known_path(device), PathRole::kSystemRoot).device = true;
  }
  for (const AbsolutePath& path : policy.readable_roots) grant(path, PathRole::kReadableRoot);
  for (const AbsolutePath& path : policy.writable_roots) grant(path, PathRole::kWritableRoot);
  for (const loom::ExplicitMount& mount : policy.mounts) {
    Place& place = grant(mount.path, PathRole::kMount);
    place.writable = mount.writable;
    place.required = mount.required;
  }
  if (policy.scratch.host_path) grant(*policy.scratch.host_path, PathRole::kScratch);
  for (const AbsolutePath& path : policy.protected_paths) {
    places.hidden.push_back(look(request.facts, path, PathRole::kProtected));
  }
  sort_places(places.grants);
  sort_places(places.hidden);
  if (policy.scratch.is_tmpfs()) places.private_scratch = request.private_scratch;
  return places;
}

}  // namespace landlock
