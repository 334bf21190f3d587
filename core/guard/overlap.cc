#include "guard/overlap.h"

#include <loom/view_replay.h>

#include <algorithm>

#include "guard/shown_host.h"

namespace loom::guard {
namespace {

// A pin makes no region of its own: it is a directory that was writable before.
bool is_region(const MountOperation& operation) noexcept {
  return is_host_writable(operation.mount_class) && operation.mount_class != MountClass::kPin &&
         !mounts_nothing(operation);
}

bool is_reached(const ExecRule& directory, const std::vector<MountOperation>& view,
                const ViewReplay& replay) {
  const MountOperation* const around = replay.effective(directory.real);
  if (around != nullptr && is_host_writable(around->mount_class)) return true;
  return std::any_of(view.begin(), view.end(), [&](const MountOperation& operation) {
    if (!is_region(operation) || replay.effective(operation.region) != &operation) return false;
    const bool same_object =
        directory.identity != FileIdentity{} && operation.identity == directory.identity;
    return same_object || operation.region.is_within(directory.real);
  });
}

}  // namespace

std::size_t exec_writable(const Snapshot& snapshot, const ShownView& shown) {
  const ExecRules rules = snapshot.rules();
  const ViewReplay replay(*shown.view);
  return static_cast<std::size_t>(
      std::count_if(rules.allow.begin(), rules.allow.end(), [&](const ExecRule& rule) {
        const bool directory = rule.scope == ExecScope::kDirectory || rule.scope == ExecScope::kAny;
        return directory && is_reached(rule, *shown.view, replay);
      }));
}

}  // namespace loom::guard
