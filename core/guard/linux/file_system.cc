#include "guard/file_system.h"

#include <linux/magic.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <array>
#include <cstdio>

namespace loom::guard {

// No device: an anonymous number.
bool may_be_automount(const struct stat& about) noexcept {
  return S_ISDIR(about.st_mode) && major(about.st_dev) == 0;
}

FileSystemKind file_system_of(int handle) noexcept {
  struct statfs about {};
  if (uninterrupted([&] { return ::fstatfs(handle, &about); }) != 0) {
    return FileSystemKind::kUnknown;
  }
  if (about.f_type == PROC_SUPER_MAGIC) return FileSystemKind::kProc;
  if (about.f_type == AUTOFS_SUPER_MAGIC) return FileSystemKind::kAutomount;
  return FileSystemKind::kOrdinary;
}

bool is_mounted_noexec(int handle) noexcept {
  struct statvfs about {};
  return ::fstatvfs(handle, &about) == 0 && (about.f_flag & ST_NOEXEC) != 0;
}

UniqueFd open_handle(int directory, const char* name) noexcept {
  return UniqueFd(
      uninterrupted([&] { return ::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC); }));
}

// Not "." in it: that takes the right to search, which nobody has in a placeholder.
UniqueFd open_unsearchable(int directory) noexcept {
  std::array<char, 32> again;
  std::snprintf(again.data(), again.size(), "/proc/self/fd/%d", directory);
  return UniqueFd(::open(again.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

bool is_null_device(const struct stat& about) noexcept {
  return S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
}

int rename_to_free_name(int from, const char* name, int to, const char* new_name) noexcept {
  return ::renameat2(from, name, to, new_name, RENAME_NOREPLACE);
}

bool has_file_capabilities(int file) noexcept {
  return ::fgetxattr(file, "security.capability", nullptr, 0) > 0;
}

}  // namespace loom::guard
