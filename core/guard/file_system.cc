#include "guard/file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace loom::guard {

FileSystemKind file_system_of(int handle) noexcept {
  struct statfs about {};
  if (uninterrupted([&] { return ::fstatfs(handle, &about); }) != 0) {
    return FileSystemKind::kUnknown;
  }
  if (about.f_type == PROC_SUPER_MAGIC) return FileSystemKind::kProc;
  if (about.f_type == AUTOFS_SUPER_MAGIC) return FileSystemKind::kAutomount;
  return FileSystemKind::kOrdinary;
}

}  // namespace loom::guard
