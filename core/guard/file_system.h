#pragma once

#include <loom/facts.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdint>

namespace loom::guard {

[[nodiscard]] inline FileIdentity identity_of(const struct stat& about) noexcept {
  return FileIdentity{.device = about.st_dev, .inode = about.st_ino};
}

enum class FileSystemKind : std::uint8_t {
  kOrdinary,
  kProc,       // its links do not lead where their text says
  kAutomount,  // a directory that becomes another one when it is opened as one
  kUnknown,    // the kernel did not say; errno does
};

// Whether an object can lie on kAutomount; saves nearly every file_system_of.
[[nodiscard]] inline bool may_be_automount(const struct stat& about) noexcept {
  return S_ISDIR(about.st_mode) && major(about.st_dev) == 0;  // no device: an anonymous number
}

// What lies behind a handle, O_PATH or not.
[[nodiscard]] FileSystemKind file_system_of(int handle) noexcept;

// Repeats a system call that a signal interrupted.
template <class Call>
[[nodiscard]] auto uninterrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace loom::guard
