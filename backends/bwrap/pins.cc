#include "pins.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "shown_names.h"

namespace loom::bwrap {
namespace {

bool is_explicit(const MountOperation& operation) noexcept {
  return operation.mount_class == MountClass::kMountReadWrite ||
         operation.mount_class == MountClass::kMountReadOnly;
}

// Looks for what must be pinned. Borrows the view, as it is without pins.
class Pinning {
 public:
  Pinning(const ResolvedPolicy& policy, const std::vector<MountOperation>& view)
      : view_(&view), replay_(view), directories_(policy, replay_) {
    for (const NamedPath& root : policy.readable) readable_.insert(root.real);
  }

  void find() {
    for (const MountOperation& operation : *view_) {
      if (has_stable_name(operation)) pin_above(operation.region);
    }
  }

  // What was found in one phase, in the byte order of the regions.
  [[nodiscard]] std::vector<MountOperation> pins(bool explicit_phase) const {
    std::vector<MountOperation> pins;
    for (const AbsolutePath& directory : pinned_) {
      if (is_explicit(*replay_.effective(directory)) != explicit_phase) continue;
      pins.push_back({.mount_class = MountClass::kPin,
                      .form = MountForm::kBind,
                      .region = directory,
                      .written = directory,
                      .identity = directories_.identity(directory),
                      .parent_identity = directories_.identity(directory.parent())});
    }
    return pins;
  }

 private:
  // Whether what the operation promises is about its name.
  [[nodiscard]] bool has_stable_name(const MountOperation& operation) const {
    if (operation.mount_class == MountClass::kProtected) return true;
    const bool read_only =
        operation.mount_class == MountClass::kMountReadOnly ||
        (operation.mount_class == MountClass::kReadable && readable_.contains(operation.region));
    return read_only && operation.identity != FileIdentity{} &&
           replay_.effective(operation.region) == &operation;
  }

  void pin_above(const AbsolutePath& region) {
    for (AbsolutePath at = region; !at.is_root();) {
      at = at.parent();
      if (!seen_.insert(at).second) return;
      const MountOperation* const around = replay_.effective(at);
      // The region of what is effective there is a mount point already.
      const bool movable = around != nullptr && is_host_writable(around->mount_class) &&
                           around->identity != FileIdentity{} && around->region != at;
      if (movable) pinned_.insert(at);
    }
  }

  const std::vector<MountOperation>* view_;
  ViewReplay replay_;
  ShownDirectories directories_;
  std::set<AbsolutePath> readable_;
  std::set<AbsolutePath> seen_;
  std::set<AbsolutePath> pinned_;
};

// Appends both, in the byte order of their regions.
void merge(std::vector<MountOperation>::const_iterator from,
           std::vector<MountOperation>::const_iterator to, std::vector<MountOperation> pins,
           std::vector<MountOperation>& into) {
  std::merge(std::make_move_iterator(pins.begin()), std::make_move_iterator(pins.end()), from, to,
             std::back_inserter(into),
             [](const MountOperation& a, const MountOperation& b) { return a.region < b.region; });
}

}  // namespace

std::vector<MountOperation> with_pins(const ResolvedPolicy& policy,
                                      std::vector<MountOperation> view) {
  Pinning pinning(policy, view);
  pinning.find();
  const auto masks = std::find_if(view.begin(), view.end(), [](const MountOperation& operation) {
    return operation.mount_class >= MountClass::kProc;
  });
  const auto mounts = std::find_if(masks, view.end(), is_explicit);
  std::vector<MountOperation> grant_pins = pinning.pins(false);
  std::vector<MountOperation> mount_pins = pinning.pins(true);
  if (grant_pins.empty() && mount_pins.empty()) return view;
  std::vector<MountOperation> pinned;
  pinned.reserve(view.size() + grant_pins.size() + mount_pins.size());
  merge(view.cbegin(), masks, std::move(grant_pins), pinned);
  pinned.insert(pinned.end(), masks, mounts);
  merge(mounts, view.cend(), std::move(mount_pins), pinned);
  return pinned;
}

}  // namespace loom::bwrap
