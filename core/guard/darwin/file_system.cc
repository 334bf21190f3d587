#include "guard/file_system.h"

#include <stdio.h>
#include <sys/mount.h>
#include <sys/types.h>

#include "guard/darwin/open_flags.h"
#include "guard/walk_calls.h"

namespace loom::guard {

// A directory of the automounter is another one as soon as it is opened, and here nothing is held
// without being opened.
bool may_be_automount(const struct stat& /*about*/) noexcept { return false; }

// There is no procfs.
FileSystemKind file_system_of(int /*handle*/) noexcept { return FileSystemKind::kOrdinary; }

bool is_mounted_noexec(int handle) noexcept {
  struct statfs about {};
  return ::fstatfs(handle, &about) == 0 && (about.f_flags & MNT_NOEXEC) != 0;
}

UniqueFd open_handle(int directory, const char* name) noexcept {
  LookedUp found = system_walk_calls().look_up(directory, name, false);
  if (found.error == 0 && !found.handle) found.error = EACCES;
  errno = found.error;
  return std::move(found.handle);
}

// A directory that nobody may search is marked as a placeholder only by helpers on Linux.
UniqueFd open_unsearchable(int directory) noexcept {
  return UniqueFd(
      ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

// The memory devices are major 3, and of them null is minor 2 (xnu, bsd/dev/memdev).
bool is_null_device(const struct stat& about) noexcept {
  return S_ISCHR(about.st_mode) && about.st_rdev == makedev(3, 2);
}

int rename_to_free_name(int from, const char* name, int to, const char* new_name) noexcept {
  return ::renameatx_np(from, name, to, new_name, RENAME_EXCL);
}

bool has_file_capabilities(int /*file*/) noexcept { return false; }

}  // namespace loom::guard
