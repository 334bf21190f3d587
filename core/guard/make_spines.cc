#include <loom/other_names.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "guard/exec_spines.h"
#include "guard/launch_refusal.h"
#include "guard/reached.h"

namespace loom::guard {
namespace {

// Nothing where this user cannot get to: neither can the command.
Judged<std::optional<Reached>> reach_if_possible(const AbsolutePath& path, LinksOnTheWay links) {
  auto found = reach(path, links);
  if (found) return std::move(*found);
  if (found.error().reason == WalkFailure::kResource) return refuse_walk(found.error(), path);
  return std::optional<Reached>();
}

// The file systems that a path leads through, as the table of mounts spells them.
std::unordered_set<std::string_view> devices_towards(const std::vector<law::Exclusion>& rules,
                                                     const std::vector<MountFact>& mounts) {
  std::unordered_map<std::string_view, std::string_view> device_at;  // the last mount is on top
  for (const MountFact& mount : mounts) device_at[mount.point.str()] = mount.device;
  std::unordered_set<std::string_view> devices;
  for (const law::Exclusion& rule : rules) {
    for (AbsolutePath at = rule.place()->real;; at = at.parent()) {
      if (const auto found = device_at.find(at.str()); found != device_at.end()) {
        devices.insert(found->second);
      }
      if (at.is_root()) break;
    }
  }
  return devices;
}

// Finds the mounts that show an excluded directory, or one above what is excluded, once more.
//
// Security: a mount of another file system is not opened. It may be dead, and wait for ever.
Judged<void> add_aliases(const std::vector<MountFact>& mounts, ExecSpines& spines) {
  Identities targets = spines.above;
  for (const law::Exclusion& rule : spines.places) {
    if (rule.place()->directory) targets.insert(*rule.place()->directory);
  }
  const auto devices = devices_towards(spines.places, mounts);
  for (const MountFact& mount : mounts) {
    if (!devices.contains(mount.device)) continue;
    LOOM_TRY(std::optional<Reached> found, reach_if_possible(mount.point, LinksOnTheWay::kRefused));
    if (!found || found->subject.is_file()) continue;
    const law::Passage& passage = found->subject.passage();
    if (!targets.contains(*passage.directory)) continue;
    spines.above_alias.insert(passage.passed.begin(), passage.passed.end());
  }
  return {};
}

// Where an exclusion is written by the name that a mount gives, the object has its own name too,
// and no mount point is there to tell.
Judged<void> add_other_names(const std::vector<MountFact>& mounts, ExecSpines& spines) {
  if (mounts.empty()) return {};
  const MountNames names(mounts);
  std::unordered_set<std::string> looked_at;
  for (const law::Exclusion& rule : spines.places) {
    for (const OtherName& name : names.of(rule.place()->real)) {
      if (name.part || !looked_at.insert(name.path.parent().str()).second) continue;
      LOOM_TRY(std::optional<Reached> found,
               reach_if_possible(name.path.parent(), LinksOnTheWay::kRefused));
      if (!found || found->subject.is_file()) continue;
      const law::Passage& passage = found->subject.passage();
      spines.above_alias.insert(passage.passed.begin(), passage.passed.end());
      spines.above_alias.insert(*passage.directory);
    }
  }
  return {};
}

Judged<void> add_written_region(const AbsolutePath& region, ExecSpines& spines) {
  LOOM_TRY(std::optional<Reached> found, reach_if_possible(region, LinksOnTheWay::kFollowed));
  if (!found) return {};
  const law::Subject& subject = found->subject;
  const std::vector<FileIdentity>& passed = subject.passage().passed;
  spines.above_written.insert(passed.begin(), passed.end());
  if (!subject.is_file()) spines.written.insert(*subject.passage().directory);
  return {};
}

}  // namespace

Judged<ExecSpines> make_spines(const law::KernelTable& table,
                               const std::vector<MountOperation>& view,
                               const std::vector<MountFact>& mounts) {
  const std::vector<law::Exclusion>& exclusions = table.table().exclusions();
  ExecSpines spines{.places = exclusions_with_a_place(table)};
  for (const law::Exclusion& rule : spines.places) {
    spines.above.insert(rule.place()->above.begin(), rule.place()->above.end());
  }
  spines.has_names = std::any_of(exclusions.begin(), exclusions.end(), [](const auto& rule) {
    return rule.scope() == law::Scope::kName;
  });
  if (spines.has_names) {
    for (const MountOperation& operation : view) {
      if (is_host_writable(operation.mount_class)) {
        LOOM_TRY_VOID(add_written_region(operation.region, spines));
      }
    }
  }
  LOOM_TRY_VOID(add_aliases(mounts, spines));
  LOOM_TRY_VOID(add_other_names(mounts, spines));
  return spines;
}

}  // namespace loom::guard
