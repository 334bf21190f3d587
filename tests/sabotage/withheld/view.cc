#include <loom/codec.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <initializer_list>

#include "backends/bwrap/landlock_rules.h"
#include "backends/bwrap/render_argv.h"
#include "backends/bwrap/stage2/prepare_document.h"
#include "wrapped.h"

// The launcher is told to build another view than was planned, and nobody looks at it: neither
// stage 2 nor the helper.

namespace loom::bwrap {
namespace {

using View = std::vector<MountOperation>;

// Whether the policy names what the operation is about, in one of these ways.
[[maybe_unused]] bool is_named(const MountOperation& operation, const RunMemo& memo,
                               std::initializer_list<PathRole> roles) {
  return std::any_of(memo.subjects.begin(), memo.subjects.end(), [&](const Subject& subject) {
    return subject.real == operation.region &&
           std::find(roles.begin(), roles.end(), subject.role) != roles.end();
  });
}

// Whether the operation is not carried out.
bool is_withheld(const MountOperation& operation, [[maybe_unused]] const RunMemo& memo) {
  [[maybe_unused]] const bool mask = operation.mount_class == MountClass::kProtected;
#if defined(LOOM_WITHHELD_FILE_MASKS)
  return mask && operation.form == MountForm::kNullDevice;
#elif defined(LOOM_WITHHELD_DIRECTORY_MASKS)
  return mask && operation.form != MountForm::kNullDevice && operation.identity != FileIdentity{};
#elif defined(LOOM_WITHHELD_OTHER_NAME_MASKS)
  return mask && !is_named(operation, memo, {PathRole::kProtected});
#elif defined(LOOM_WITHHELD_EXEC_SHOWN)
  return operation.mount_class == MountClass::kExecShown;
#else
  return false;
#endif
}

void change(MountOperation& operation, const RunMemo& memo) {
  if (is_withheld(operation, memo)) operation.form = MountForm::kNone;
#if defined(LOOM_WITHHELD_READ_ONLY)
  // Not the system: that is this machine's own.
  if (is_host_backed(operation.mount_class) &&
      is_named(operation, memo, {PathRole::kReadableRoot, PathRole::kMount})) {
    operation.mount_class = MountClass::kWritable;
  }
#endif
}

}  // namespace

Bytes real_options(const View& view, const RunMemo& memo) LOOM_REAL;
Bytes options_of_another_view(const View& view, const RunMemo& memo) LOOM_OURS;
Bytes real_encoding(const PrepareDocument& document) LOOM_SECOND_REAL;
Bytes encode_unchecked(const PrepareDocument& document) LOOM_SECOND_OURS;

Bytes options_of_another_view(const View& view, const RunMemo& memo) {
  View changed = view;
  for (MountOperation& operation : changed) change(operation, memo);
  return real_options(changed, memo);
}

Bytes encode_unchecked(const PrepareDocument& document) {
  PrepareDocument unchecked = document;
  std::erase_if(unchecked.view,
                [](const ViewCheck& check) { return check.form != ViewCheck::Form::kPin; });
#if defined(LOOM_WITHHELD_READ_ONLY)
  for (LandlockRule& rule : unchecked.landlock_rules) {
    rule.access = kReadWrite & document.landlock_handled_fs;
  }
#endif
  return real_encoding(unchecked);
}

Bytes real_launch(const LaunchSpec& launch) LOOM_THIRD_REAL;
Bytes encode_unwatched(const LaunchSpec& launch) LOOM_THIRD_OURS;

Bytes encode_unwatched(const LaunchSpec& launch) {
  LaunchSpec unwatched = launch;
  unwatched.watched.clear();
  return real_launch(unwatched);
}

}  // namespace loom::bwrap
