#include "guard/shown_host.h"

#include <algorithm>
#include <iterator>

namespace loom::guard {
namespace {

std::vector<MountOperation> without_masks(const std::vector<MountOperation>& view) {
  std::vector<MountOperation> kept;
  kept.reserve(view.size());
  std::copy_if(
      view.begin(), view.end(), std::back_inserter(kept), [](const MountOperation& operation) {
        return operation.mount_class != MountClass::kProtected && !mounts_nothing(operation);
      });
  return kept;
}

}  // namespace

bool mounts_nothing(const MountOperation& operation) noexcept {
  const bool tries =
      operation.form == MountForm::kBindTry || operation.form == MountForm::kReadOnlyBindTry;
  return tries && operation.identity == FileIdentity{};
}

ShownHost::ShownHost(const std::vector<MountOperation>& view)
    : operations_(std::make_unique<const std::vector<MountOperation>>(without_masks(view))),
      replay_(*operations_) {}

std::optional<law::Reason> ShownHost::refusal_of(const MountOperation* operation,
                                                 Access access) noexcept {
  if (operation == nullptr || operation->mount_class == MountClass::kRootTmpfs) {
    return law::Reason::kNotAllowed;
  }
  if (!is_host_backed(operation->mount_class)) return law::Reason::kNotAHostObject;
  if (access == Access::kWrite && !is_host_writable(operation->mount_class)) {
    return law::Reason::kReadOnly;
  }
  return std::nullopt;
}

bool ShownHost::is_written_at(const AbsolutePath& path) const {
  for (AbsolutePath at = path;; at = at.parent()) {
    const MountOperation* const operation = effective(at);
    if (operation != nullptr && is_host_writable(operation->mount_class)) return true;
    if (at.is_root()) return false;
  }
}

bool ShownHost::is_written_root(const FileIdentity& identity) const {
  return identity != FileIdentity{} &&
         std::any_of(
             operations_->begin(), operations_->end(), [&](const MountOperation& operation) {
               return is_host_writable(operation.mount_class) && operation.identity == identity;
             });
}

}  // namespace loom::guard
