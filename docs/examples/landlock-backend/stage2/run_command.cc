#include "run_command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

namespace landlock::stage2 {
namespace {

constexpr int kSignals = 64;
constexpr std::size_t kKernelSetBytes = kSignals / 8;
constexpr unsigned kCloseRangeCloexec = 4;  // CLOSE_RANGE_CLOEXEC, Linux 5.11

bool exists(const char* path) noexcept {
  struct stat about {};
  return ::stat(path, &about) == 0;
}

// The kernel says ENOENT for an absent program and for an absent interpreter of a present one.
[[noreturn]] void explain(const char* path, int error) noexcept {
  const bool absent = (error == ENOENT || error == ENOTDIR) && !exists(path);
  give_up(absent ? Step::kLookup : Step::kExecute, path, error);
}

const char* search_path(char* const* environment) noexcept {
  for (; *environment != nullptr; ++environment) {
    if (::strncmp(*environment, "PATH=", 5) == 0) return *environment + 5;
  }
  return nullptr;
}

// As execvp: an empty entry is the current directory, and what was found but refused explains more
// than "not found".
[[noreturn]] void search(const Commit& commit, const char* directories) noexcept {
  static std::array<char, PATH_MAX> path;
  const std::string_view name = commit.argv[0];
  int refused = 0;
  for (const char* entry = directories; entry != nullptr;) {
    const std::string_view directory(entry, ::strcspn(entry, ":"));
    entry = entry[directory.size()] == ':' ? entry + directory.size() + 1 : nullptr;
    if (directory.size() + name.size() + 2 > path.size()) continue;
    std::size_t size = directory.copy(path.data(), directory.size());
    if (size > 0 && path[size - 1] != '/') path[size++] = '/';
    size += name.copy(path.data() + size, name.size());
    path[size] = '\0';
    ::execve(path.data(), commit.argv, commit.environment);
    const int error = errno;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) explain(path.data(), error);
    if (refused == 0 && exists(path.data())) refused = error;
  }
  if (refused != 0) give_up(Step::kExecute, commit.argv[0], refused);
  give_up(Step::kLookup, commit.argv[0], ENOENT);
}

}  // namespace

// By system call: the C library keeps two signals from its own functions. All zeros is the default
// action, no flags, no mask.
void reset_signals() noexcept {
  const std::array<unsigned long, 8> default_action{};
  for (int number = 1; number <= kSignals; ++number) {
    ::syscall(SYS_rt_sigaction, number, default_action.data(), nullptr, kKernelSetBytes);
  }
  const std::array<unsigned char, kKernelSetBytes> nothing{};
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing.data(), nullptr, kKernelSetBytes);
}

void mark_descriptors() noexcept {
  if (::syscall(SYS_close_range, 3U, ~0U, kCloseRangeCloexec) == 0) return;
  // Kernels with Landlock have the call from 5.13 on; a filter around us may not.
  give_up(Step::kExecute, "descriptors", errno);
}

void run_command(const Commit& commit) noexcept {
  const char* const directory = commit.cwd[0] == '\0' ? "/" : commit.cwd;
  if (directory[0] != '/') give_up(Step::kDirectory, directory, EINVAL);
  if (::chdir(directory) != 0) give_up(Step::kDirectory, directory, errno);
  const char* const name = commit.argv[0];
  if (::strchr(name, '/') != nullptr) {
    ::execve(name, commit.argv, commit.environment);
    explain(name, errno);
  }
  const char* const directories = search_path(commit.environment);
  if (name[0] == '\0' || directories == nullptr) give_up(Step::kLookup, name, ENOENT);
  search(commit, directories);
}

}  // namespace landlock::stage2
