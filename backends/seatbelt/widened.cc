#include "widened.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

#include "spellings.h"

namespace loom::seatbelt {
namespace {

class Roots {
 public:
  explicit Roots(const std::vector<Place>& places) {
    for (const Place& place : places) regions_.insert(place.real.str());
  }
  [[nodiscard]] bool cover(std::string_view path) const {
    for (; !path.empty(); path = above(path)) {
      if (regions_.contains(path)) return true;
    }
    return false;
  }

 private:
  std::unordered_set<std::string_view> regions_;
};

bool is_user_directory(const ResolvedPolicy& policy, const MountOperation& operation) {
  return operation.mount_class == MountClass::kWritable &&
         std::any_of(policy.user_directories.begin(), policy.user_directories.end(),
                     [&](const Place& place) { return place.real == operation.region; });
}

}  // namespace

Widened widened_roots(const ResolvedPolicy& policy, const std::vector<MountOperation>& view) {
  const ViewReplay replay(view);
  std::set<std::string> entries;
  std::set<std::string> remarks;
  const auto name = [&entries](const char* kind, const Place& place, const char* predicate,
                               const MountOperation& by) {
    const bool mount = by.mount_class != MountClass::kWritable;
    entries.insert(std::string("mounts: ") + kind + ' ' + place.written.str() + " is " + predicate +
                   ": " + (mount ? "the mount of " : "the run's own directory ") +
                   by.written.str() + " is the final mount operation covering it");
  };
  const Roots writable(policy.writable);
  for (const Place& place : policy.readable) {
    const MountOperation* const last = replay.effective(place.real);
    if (last == nullptr || !is_host_writable(last->mount_class)) continue;
    if (writable.cover(place.real.str())) continue;
    if (is_user_directory(policy, *last)) {
      remarks.insert("unheld:user-directories=readable root " + place.written.str() +
                     " is writable: every run may write " + last->written.str());
    } else {
      name("readable root", place, "writable", *last);
    }
  }
  for (const Place& place : policy.writable) {
    const MountOperation* const last = replay.effective(place.real);
    if (last == nullptr || last->mount_class != MountClass::kMountReadOnly) continue;
    name("writable root", place, "read-only", *last);
  }
  return {.entries = {entries.begin(), entries.end()}, .remarks = {remarks.begin(), remarks.end()}};
}

}  // namespace loom::seatbelt
