#include "host/mount_point_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "guard/open_without_links.h"
#include "host/random_name.h"

namespace loom::host {

namespace {

constexpr mode_t kMode = S_IFREG | 0444;  // of what bubblewrap makes
constexpr unsigned kAsked = STATX_BASIC_STATS | STATX_BTIME;

// When the launcher can have made a file.
struct Span {
  const timespec& since;
  const std::optional<timespec>& until;
};

bool is_before(const statx_timestamp& time, const timespec& other) {
  if (time.tv_sec != other.tv_sec) return time.tv_sec < other.tv_sec;
  return time.tv_nsec < static_cast<std::uint32_t>(other.tv_nsec);
}

bool is_after(const statx_timestamp& time, const timespec& other) {
  if (time.tv_sec != other.tv_sec) return time.tv_sec > other.tv_sec;
  return time.tv_nsec > static_cast<std::uint32_t>(other.tv_nsec);
}

bool lies_in(const struct statx& about, const Span& span) {
  const bool told = (about.stx_mask & STATX_BTIME) != 0;
  if (!told && span.until) return false;
  const statx_timestamp& birth = told ? about.stx_btime : about.stx_ctime;
  return !is_before(birth, span.since) && (!span.until || !is_after(birth, *span.until));
}

bool is_launchers(int parent, const char* name, const Span& span) {
  struct statx about {};
  if (::statx(parent, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, kAsked, &about) != 0) {
    return false;
  }
  return about.stx_mode == kMode && about.stx_size == 0 && about.stx_nlink == 1 &&
         about.stx_uid == ::geteuid() && lies_in(about, span);
}

}  // namespace

timespec earliest_birth_from_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

timespec latest_birth_until_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

// Between a look and unlink(2) the name can become another's. Under a name that nobody knows it
// cannot.
bool remove_mount_point_file(const AbsolutePath& path, const timespec& since,
                             const std::optional<timespec>& until) noexcept {
  const Span span{.since = since, .until = until};
  const guard::Opened parent = guard::open_without_links(path.parent(), O_DIRECTORY);
  const std::string name(path.name());
  if (!parent.handle || !is_launchers(parent.handle.get(), name.c_str(), span)) return false;
  const auto random = random_hex(16);
  if (!random) return false;
  const int at = parent.handle.get();
  const std::string aside = ".loom-exec-" + *random;
  if (::renameat2(at, name.c_str(), at, aside.c_str(), RENAME_NOREPLACE) != 0) return false;
  if (is_launchers(at, aside.c_str(), span)) return ::unlinkat(at, aside.c_str(), 0) == 0;
  static_cast<void>(::renameat2(at, aside.c_str(), at, name.c_str(), RENAME_NOREPLACE));
  return false;
}

}  // namespace loom::host
