#include "check_view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "open_path.h"

namespace loom::bwrap {
namespace {

// What one handle says about its object and the mount it is on.
struct Seen {
  struct stat status {};
  struct statfs mount {};

  [[nodiscard]] bool read_only() const noexcept { return (mount.f_flags & ST_RDONLY) != 0; }
  [[nodiscard]] bool on_tmpfs() const noexcept { return mount.f_type == TMPFS_MAGIC; }
};

tl::unexpected<Failure> miss(const std::string& path, const char* why, int error = 0) {
  return stop(Stage2Step::kView, path + ": " + why, error);
}

StepResult<Seen> look(int fd, const std::string& path) {
  Seen seen;
  if (::fstat(fd, &seen.status) != 0 || ::fstatfs(fd, &seen.mount) != 0) {
    return miss(path, "unreadable", errno);
  }
  return seen;
}

// A tmpfs of the host is a tmpfs too, so only the device numbers of the jail's own will do.
bool is_own(const Seen& directory, const std::vector<std::string>& own_tmpfs) {
  if (!directory.on_tmpfs()) return false;
  return std::any_of(own_tmpfs.begin(), own_tmpfs.end(), [&](const std::string& place) {
    struct stat own {};
    return ::stat(place.c_str(), &own) == 0 && own.st_dev == directory.status.st_dev;
  });
}

StepResult<void> check_parent(const ViewCheck& check, const Seen& parent,
                              const std::vector<std::string>& own_tmpfs) {
  if (check.parent_identity == FileIdentity{}) {
    if (!is_own(parent, own_tmpfs)) return miss(check.path, "its directory is not the jail's own");
    return {};
  }
  const FileIdentity found{.device = parent.status.st_dev, .inode = parent.status.st_ino};
  if (found != check.parent_identity) return miss(check.path, "its directory was exchanged");
  return {};
}

StepResult<void> check_leaf(const ViewCheck& check, const Seen& parent, const Seen& leaf) {
  bool in_place = leaf.read_only();
  switch (check.form) {
    case ViewCheck::Form::kNullDevice:
      in_place = in_place && S_ISCHR(leaf.status.st_mode) && leaf.status.st_rdev == makedev(1, 3);
      break;
    case ViewCheck::Form::kEmptyDirectory:
      // Every tmpfs has a device number of its own: the same number as the parent's is an ordinary
      // directory of a host tmpfs, shown read-only and not masked.
      in_place = in_place && S_ISDIR(leaf.status.st_mode) && leaf.on_tmpfs() &&
                 leaf.status.st_dev != parent.status.st_dev;
      break;
  }
  if (!in_place) return miss(check.path, "not masked");
  return {};
}

StepResult<void> check_mask(const ViewCheck& check, const std::vector<std::string>& own_tmpfs) {
  const auto slash = check.path.rfind('/');
  const std::string name = check.path.substr(slash + 1);
  if (name.empty()) return miss(check.path, "no name to mask");
  const UniqueFd parent_fd = open_without_links(slash == 0 ? "/" : check.path.substr(0, slash));
  if (!parent_fd) return miss(check.path, "its directory", errno);
  LOOM_TRY(const Seen parent, look(parent_fd.get(), check.path));
  LOOM_TRY_VOID(check_parent(check, parent, own_tmpfs));
  const UniqueFd leaf_fd(::openat(parent_fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!leaf_fd) return miss(check.path, "not masked", errno);
  LOOM_TRY(const Seen leaf, look(leaf_fd.get(), check.path));
  return check_leaf(check, parent, leaf);
}

StepResult<void> check_root() {
  struct statfs root {};
  if (::statfs("/", &root) != 0) return miss("/", "unreadable", errno);
  if ((root.f_flags & ST_RDONLY) == 0) return miss("/", "not read-only");
  return {};
}

}  // namespace

StepResult<void> check_view(const PrepareDocument& document) {
  if (document.root_read_only) LOOM_TRY_VOID(check_root());
  for (const ViewCheck& check : document.view) {
    LOOM_TRY_VOID(check_mask(check, document.own_tmpfs));
  }
  return {};
}

}  // namespace loom::bwrap
