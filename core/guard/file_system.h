#pragma once

#include <fcntl.h>
#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

namespace loom::guard {

[[nodiscard]] inline FileIdentity identity_of(const struct stat& about) noexcept {
  return FileIdentity{.device = static_cast<std::uint64_t>(about.st_dev), .inode = about.st_ino};
}

enum class FileSystemKind : std::uint8_t {
  kOrdinary,
  kProc,       // its links do not lead where their text says
  kAutomount,  // a directory that becomes another one when it is opened as one
  kUnknown,    // the kernel did not say; errno does
};

// What follows differs from system to system: core/guard/linux and core/guard/darwin.

// Looks at a name and leaves an automounter alone; nothing where the system has no such flag.
#ifdef AT_NO_AUTOMOUNT
inline constexpr int kLookOnly = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
#else
inline constexpr int kLookOnly = AT_SYMLINK_NOFOLLOW;
#endif

// Whether directories find a name under other spellings, so that what a real path says has to be
// asked of them.
#ifdef __APPLE__
inline constexpr bool kNamesHaveSpellings = true;
#else
inline constexpr bool kNamesHaveSpellings = false;
#endif

// Whether an object can lie on kAutomount; saves nearly every file_system_of.
[[nodiscard]] bool may_be_automount(const struct stat& about) noexcept;

// What lies behind a handle, O_PATH or not.
[[nodiscard]] FileSystemKind file_system_of(int handle) noexcept;

// Whether nothing runs from there, whatever its mode says.
[[nodiscard]] bool is_mounted_noexec(int handle) noexcept;

// A handle of what a name in a directory denotes, a link itself; invalid with errno set. Waits for
// nothing, and nothing can be read through it.
[[nodiscard]] UniqueFd open_handle(int directory, const char* name) noexcept;

// A handle for listing what any handle of a directory denotes, on Linux also one that nobody may
// search; invalid with errno set.
[[nodiscard]] UniqueFd open_unsearchable(int directory) noexcept;

// Whether that is the device behind /dev/null.
[[nodiscard]] bool is_null_device(const struct stat& about) noexcept;

// rename(2), but for a name that is there: 0, or -1 with EEXIST.
[[nodiscard]] int rename_to_free_name(int from, const char* name, int to,
                                      const char* new_name) noexcept;

// Whether a file brings privileges other than by its mode.
[[nodiscard]] bool has_file_capabilities(int file) noexcept;

// Repeats a system call that a signal interrupted.
template <class Call>
[[nodiscard]] auto uninterrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace loom::guard
