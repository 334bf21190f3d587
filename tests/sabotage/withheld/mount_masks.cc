#include "backends/bwrap/render_argv.h"
#include "wrapped.h"

// The launcher is not told to mask anything. Plan, canonical form, audit and the list of what stage
// 2 must find stay as they are.

namespace loom::bwrap {

using View = std::vector<MountOperation>;
Bytes real_options(const View& view, const RunMemo& memo) LOOM_REAL;
Bytes options_without_masks(const View& view, const RunMemo& memo) LOOM_OURS;

Bytes options_without_masks(const View& view, const RunMemo& memo) {
  View unmasked = view;
  for (MountOperation& operation : unmasked) {
    if (operation.mount_class == MountClass::kProtected) operation.form = MountForm::kNone;
  }
  return real_options(unmasked, memo);
}

}  // namespace loom::bwrap
