#include "open_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace loom::bwrap {
namespace {

bool is_link(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISLNK(status.st_mode);
}

// O_PATH with O_NOFOLLOW opens a link itself instead of refusing it, hence the look at each step.
UniqueFd walk_without_links(std::string_view path) {
  UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (at) {
    const auto start = path.find_first_not_of('/');
    if (start == std::string_view::npos) return at;
    const auto end = std::min(path.find('/', start), path.size());
    const std::string name(path.substr(start, end - start));
    path.remove_prefix(end);
    at = UniqueFd(::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (at && is_link(at.get())) {
      errno = ELOOP;
      return {};
    }
  }
  return at;
}

}  // namespace

UniqueFd open_without_links(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  // Container filters older than the call answer EPERM for a number they do not know.
  if (!fd && (errno == ENOSYS || errno == EPERM)) return walk_without_links(path);
  return fd;
}

}  // namespace loom::bwrap
