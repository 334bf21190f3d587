#include "mount_steps.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <set>
#include <utility>

#include "launcher_options.h"
#include "region_set.h"

namespace loom::bwrap {
namespace {

// 3 to 6 are stage 2's, 10 and 11 bubblewrap's options and program.
constexpr int kFirstSource = 12;

constexpr std::size_t kArgumentsOfLink = 3;
constexpr std::size_t kArgumentsOfBind = 3;
constexpr std::size_t kArgumentsOfPlace = 3;
constexpr std::size_t kArgumentsOfHardening = 2;  // a session, and no user namespaces

bool is_bind(MountForm form) noexcept {
  return form == MountForm::kBind || form == MountForm::kBindTry ||
         form == MountForm::kReadOnlyBind || form == MountForm::kReadOnlyBindTry;
}

bool is_dropped(std::size_t index, const RunMemo& memo) {
  return std::binary_search(memo.dropped.begin(), memo.dropped.end(), index);
}

// Those that lie inside a region of the command's that comes before them.
std::vector<bool> exposed_ones(const std::vector<MountOperation>& view, const RunMemo& memo) {
  std::vector<bool> exposed(view.size());
  RegionSet writable;
  for (std::size_t i = 0; i < view.size(); ++i) {
    exposed[i] = !view[i].region.is_root() && writable.covers(view[i].region.parent());
    if (is_host_writable(view[i].mount_class) && !is_dropped(i, memo)) {
      writable.insert(view[i].region);
    }
  }
  return exposed;
}

// Of these, the ones whose mount point bubblewrap finds on the host, right inside a tree of the
// host's. Inside a mask or a tmpfs it has to make one.
std::vector<std::size_t> linked_ones(const std::vector<MountOperation>& view,
                                     const std::vector<bool>& exposed, const RunMemo& memo) {
  std::vector<std::size_t> linked;
  const ViewReplay replay(view);
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!exposed[i] || is_dropped(i, memo)) continue;
    const MountOperation* const around = replay.effective(view[i].region.parent());
    if (around != nullptr && is_host_backed(around->mount_class)) linked.push_back(i);
  }
  return linked;
}

// An operation over one that is put off is put off too, or it would no longer cover that one.
void put_off_what_covers(const std::vector<MountOperation>& view, std::vector<bool>& exposed) {
  std::set<std::string_view> below;  // every region put off so far, and every directory above
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!exposed[i]) exposed[i] = below.contains(view[i].region.str());
    if (!exposed[i]) continue;
    for (std::string_view at = view[i].region.str(); at.size() > 1;) {
      if (!below.insert(at).second) break;
      at = at.substr(0, std::max<std::size_t>(at.rfind('/'), 1));
    }
  }
}

// The jail's own /proc and /dev are made from the host's, so they cannot wait.
bool can_cover(const std::vector<MountOperation>& view, const std::vector<bool>& exposed) {
  for (std::size_t i = 0; i < view.size(); ++i) {
    const MountOperation& operation = view[i];
    if (operation.region.is_root() && is_host_writable(operation.mount_class)) return false;
    const bool needs_host = operation.form == MountForm::kProc || operation.form == MountForm::kDev;
    if (exposed[i] && needs_host) return false;
  }
  return true;
}

const AbsolutePath& source_of(const std::vector<MountOperation>& view, std::size_t index,
                              const RunMemo& memo) {
  const auto at = std::find_if(memo.moved.begin(), memo.moved.end(),
                               [index](const MovedSource& moved) { return moved.index == index; });
  return at == memo.moved.end() ? view[index].region : at->real;
}

}  // namespace

std::vector<LentSource> lent_sources(const std::vector<MountOperation>& view, const RunMemo& memo) {
  std::vector<LentSource> sources;
  if (!memo.kernel.launcher.by_handle) return sources;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!is_bind(view[i].form) || is_dropped(i, memo)) continue;
    sources.push_back({.index = i,
                       .number = kFirstSource + static_cast<int>(sources.size()),
                       .path = source_of(view, i, memo)});
  }
  return sources;
}

AbsolutePath link_target(const MountOperation& operation) {
  return operation.form == MountForm::kNullDevice ? operation.region.parent() : operation.region;
}

MountSteps mount_steps(const std::vector<MountOperation>& view, const RunMemo& memo) {
  std::vector<bool> exposed = exposed_ones(view, memo);
  std::vector<std::size_t> linked = linked_ones(view, exposed, memo);
  put_off_what_covers(view, exposed);
  const LauncherFacts& launcher = memo.kernel.launcher;
  const bool cover = launcher.by_handle && launcher.no_cover.empty() && can_cover(view, exposed);
  MountSteps steps;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (is_dropped(i, memo)) continue;
    (cover && exposed[i] ? steps.exposed : steps.first).push_back(i);
  }
  if (cover && memo.leads) steps.linked = std::move(linked);
  return steps;
}

std::size_t further_arguments(const std::vector<MountOperation>& view, const RunMemo& memo) {
  std::size_t further = kArgumentsOfLink * memo.links.size();
  if (memo.hardened) further += kArgumentsOfHardening;
  const MountSteps steps = mount_steps(view, memo);
  if (steps.exposed.empty()) return further;
  const auto laid_aside =
      std::count_if(steps.exposed.begin(), steps.exposed.end(),
                    [&view](std::size_t index) { return is_bind(view[index].form); });
  std::set<AbsolutePath> links;
  for (const std::size_t index : steps.linked) links.insert(link_target(view[index]));
  return further + cover_options().size() +
         kArgumentsOfBind * static_cast<std::size_t>(laid_aside) + kArgumentsOfPlace * links.size();
}

}  // namespace loom::bwrap
