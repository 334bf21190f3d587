#include "host/posix/open_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace loom::host {

namespace {

// What a process without a limit of its own may be asked about at most.
constexpr long kMostAskedAbout = 1'048'576;

// -1 where there is no such list. The descriptor that the listing itself takes may be the highest:
// then one number too many is named, which does no harm.
int highest_listed() noexcept {
  DIR* const listing = ::opendir("/dev/fd");
  if (listing == nullptr) return -1;
  int highest = -1;
  while (const dirent* const entry = ::readdir(listing)) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == '\0') highest = std::max(highest, static_cast<int>(number));
  }
  // A /dev/fd of three fixed names lists no process's descriptors.
  const bool lists_itself = highest >= ::dirfd(listing);
  ::closedir(listing);
  return lists_itself ? highest : -1;
}

}  // namespace

int highest_descriptor() noexcept {
  const int listed = highest_listed();
  if (listed >= 0) return listed;
  const long limit = std::clamp(::sysconf(_SC_OPEN_MAX), 1'024L, kMostAskedAbout);
  for (int fd = static_cast<int>(limit) - 1; fd > 2; --fd) {
    if (::fcntl(fd, F_GETFD) >= 0) return fd;
  }
  return 2;
}

}  // namespace loom::host
