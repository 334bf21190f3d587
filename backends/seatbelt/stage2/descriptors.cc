#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

namespace loom::seatbelt {
namespace {

// More numbers than any process here has: the helper raises its limit, and some systems call that
// infinite.
constexpr rlim_t kMaxTried = 1'048'576;

// Every open descriptor from `first` on; empty when the system does not list them, since the
// listing itself needs one.
std::vector<int> list_descriptors(int first) {
  std::vector<int> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/dev/fd"), &::closedir);
  if (!directory) return found;
  const int own = ::dirfd(directory.get());
  bool listed = false;
  while (const dirent* const entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    listed = listed || number == own;
    if (number >= first && number != own) found.push_back(number);
  }
  // Also when there is nothing to close: so that an empty listing is not taken for that.
  if (listed && found.empty()) found.push_back(own);
  return found;
}

std::vector<int> every_number(int first) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kMaxTried;
  std::vector<int> numbers;
  const auto end = static_cast<int>(std::min(limit.rlim_cur, kMaxTried));
  for (int fd = first; fd < end; ++fd) numbers.push_back(fd);
  return numbers;
}

}  // namespace

bool fill_standard_descriptors() noexcept {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`. Not close-on-exec: it becomes the command's.
    if (::open("/dev/null", O_RDWR) != fd) return false;  // NOLINT(android-cloexec-open)
  }
  return true;
}

void close_unexpected_descriptors() {
  static constexpr int kFirst = kControlFd + 1;
  std::vector<int> unexpected = list_descriptors(kFirst);
  if (unexpected.empty()) unexpected = every_number(kFirst);
  for (const int fd : unexpected) ::close(fd);
  for (const int fd : {kDocumentFd, kReportFd, kControlFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}  // namespace loom::seatbelt
