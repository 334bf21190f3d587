#include "host/foreign_root.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace loom::host {

std::optional<ForeignRoot> ForeignRoot::open(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/root";
  UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return root ? std::optional(ForeignRoot(std::move(root))) : std::nullopt;
}

std::optional<std::uint64_t> ForeignRoot::mount_at(const AbsolutePath& path) const {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(O_PATH | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED;
  const UniqueFd object(
      static_cast<int>(::syscall(SYS_openat2, root_.get(), path.str().c_str(), &how, sizeof how)));
  struct statx about {};
  constexpr int kFlags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (!object || ::statx(object.get(), "", kFlags, STATX_MNT_ID, &about) != 0) return std::nullopt;
  constexpr std::uint64_t kMountRoot = STATX_ATTR_MOUNT_ROOT;
  const bool begins = (about.stx_attributes & kMountRoot) != 0;
  const bool told = (about.stx_mask & STATX_MNT_ID) != 0;
  return begins && told ? std::optional(std::uint64_t{about.stx_mnt_id}) : std::nullopt;
}

}  // namespace loom::host
