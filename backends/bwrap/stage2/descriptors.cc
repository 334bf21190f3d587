#include "descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace loom::bwrap {
namespace {

constexpr unsigned kCloseRangeCloexec = 1U << 2U;  // kernel 5.11

// Every open descriptor; empty when /proc cannot be read, since the listing itself needs one.
std::vector<int> list_descriptors() {
  std::vector<int> found;
  const UniqueFd directory(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) std::array<char, 4'096> buffer;
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory.get(), buffer.data(), buffer.size());
    if (got <= 0) return found;
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      int number = -1;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      const bool is_number = error == std::errc() && end == name.data() + name.size();
      if (is_number && number != directory.get()) found.push_back(number);
    }
  }
}

// For kernels before 5.9 (no close_range) and 5.11 (no close-on-exec flag).
template <class Visit>
bool visit_descriptors(int first, Visit visit) {
  const std::vector<int> all = list_descriptors();
  for (const int fd : all) {
    if (fd >= first) visit(fd);
  }
  return !all.empty();
}

void mark(int fd) noexcept { ::fcntl(fd, F_SETFD, FD_CLOEXEC); }

}  // namespace

bool adopt_standard_input() noexcept {
  if (::fcntl(kStdinFd, F_GETFD) < 0) return true;
  return ::dup2(kStdinFd, STDIN_FILENO) == STDIN_FILENO;
}

bool fill_standard_descriptors() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`. Not close-on-exec: it becomes the command's.
    if (::open("/dev/null", O_RDWR) != fd) return false;  // NOLINT(android-cloexec-open)
  }
  return true;
}

bool close_unexpected_descriptors() {
  static constexpr int kFirst = kControlFd + 1;
  if (::syscall(SYS_close_range, kFirst, ~0U, 0U) != 0 &&
      !visit_descriptors(kFirst, [](int fd) { ::close(fd); })) {
    return false;
  }
  for (const int fd : {kDocumentFd, kReportFd, kControlFd}) mark(fd);
  return true;
}

bool mark_descriptors_for_closing() {
  static constexpr int kFirst = STDERR_FILENO + 1;
  if (::syscall(SYS_close_range, kFirst, ~0U, kCloseRangeCloexec) == 0) return true;
  return visit_descriptors(kFirst, mark);
}

}  // namespace loom::bwrap
