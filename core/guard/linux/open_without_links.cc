#include "guard/open_without_links.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

namespace loom::guard {
namespace {

Opened opened(int fd) {
  const int error = errno;
  return fd >= 0 ? Opened{.handle = UniqueFd(fd)} : Opened{.error = error};
}

// Not O_NOFOLLOW: with O_PATH it would open a link at the end instead of failing (openat2(2)).
Opened open_in_one_step(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(O_PATH | O_CLOEXEC | flags);
  how.resolve = RESOLVE_NO_SYMLINKS;
  return opened(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

// A link is opened as itself, so it must be seen before anything is looked up behind it.
Opened open_component(int directory, const char* name, int flags) {
  Opened next = opened(::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!next.handle) return next;
  struct stat about {};
  if (::fstat(next.handle.get(), &about) != 0) return Opened{.error = errno};
  if (S_ISLNK(about.st_mode)) return Opened{.error = ELOOP};
  if ((flags & O_DIRECTORY) == 0) return next;
  return opened(::openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY));
}

Opened open_by_component(const std::string& path, int flags) {
  Opened here = opened(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string_view rest = std::string_view(path).substr(1);
  while (here.handle && !rest.empty()) {
    const std::string component(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(component.size() + 1, rest.size()));
    here = open_component(here.handle.get(), component.c_str(), rest.empty() ? flags : 0);
  }
  return here;
}

}  // namespace

Opened open_without_links(const AbsolutePath& path, int flags) {
  Opened found = open_in_one_step(path.str(), flags);
  // EPERM is a container's filter; opening a handle asks for no permission of that kind.
  const bool unknown_call = found.error == ENOSYS || found.error == EPERM;
  return unknown_call ? open_by_component(path.str(), flags) : std::move(found);
}

}  // namespace loom::guard
