#include "view.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "spellings.h"

namespace loom::seatbelt {
namespace {

// What is allowed to run can be read, which matters where nothing else shows it.
std::vector<MountOperation> shown_programs(const Layers& layers,
                                           const std::optional<ExecRules>& exec) {
  if (!exec) return {};
  const ViewReplay replay(layers.view);
  std::vector<MountOperation> shown;
  for (const ExecRule& rule : exec->allow) {
    const bool object = rule.scope == ExecScope::kDirectory || rule.scope == ExecScope::kFile;
    if (!object || rule.real.is_root()) continue;
    const MountOperation* const around = replay.effective(rule.real);
    if (around != nullptr && around->mount_class != MountClass::kRootTmpfs) continue;
    shown.push_back({.mount_class = MountClass::kExecShown,
                     .form = MountForm::kRule,
                     .region = rule.real,
                     .written = AbsolutePath::parse(rule.written).value_or(rule.real),
                     .identity = rule.identity,
                     .parent_identity = rule.parent_identity});
  }
  const auto order = [](const MountOperation& a, const MountOperation& b) {
    return a.region != b.region ? a.region < b.region : a.written < b.written;
  };
  std::sort(shown.begin(), shown.end(), order);
  const auto again = std::unique(
      shown.begin(), shown.end(),
      [](const MountOperation& a, const MountOperation& b) { return a.region == b.region; });
  shown.erase(again, shown.end());
  return shown;
}

bool is_covered(const std::unordered_set<std::string_view>& regions, std::string_view path) {
  for (std::string_view at = path; !at.empty(); at = above(at)) {
    if (regions.contains(at)) return true;
  }
  return false;
}

std::vector<MountOperation> masks(const ResolvedPolicy& policy) {
  std::vector<const Place*> places;
  for (const Place& place : policy.protected_paths) places.push_back(&place);
  std::sort(places.begin(), places.end(), [](const Place* a, const Place* b) {
    return a->real != b->real ? a->real < b->real : a->written < b->written;
  });
  std::unordered_set<std::string_view> hidden;
  std::vector<MountOperation> operations;
  for (const Place* const place : places) {
    if (is_covered(hidden, place->real.str())) continue;
    hidden.insert(place->real.str());
    operations.push_back({.mount_class = MountClass::kProtected,
                          .form = MountForm::kRule,
                          .region = place->real,
                          .written = place->written,
                          .identity = place->identity,
                          .parent_identity = place->parent_identity});
  }
  return operations;
}

}  // namespace

std::vector<MountOperation> build_view(const ResolvedPolicy& policy, const Layers& layers,
                                       const std::optional<ExecRules>& exec) {
  std::vector<MountOperation> view = layers.view;
  // Before what may lie in them.
  const std::vector<MountOperation> programs = shown_programs(layers, exec);
  view.insert(view.begin() + static_cast<std::ptrdiff_t>(layers.ground), programs.begin(),
              programs.end());
  const std::vector<MountOperation> hidden = masks(policy);
  view.insert(view.end(), hidden.begin(), hidden.end());
  return view;
}

}  // namespace loom::seatbelt
