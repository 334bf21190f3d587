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
  [[nodiscard]] FileIdentity identity() const noexcept {
    return {.device = status.st_dev, .inode = status.st_ino};
  }
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
  if (parent.identity() != check.parent_identity)
    return miss(check.path, "its directory was exchanged");
  return {};
}

// Whether an object is the root of a mount. Kernels before 5.8 do not tell; there the identity has
// to do.
bool may_be_mount_root(int object) {
  struct statx about {};
  if (::statx(object, "", AT_EMPTY_PATH, 0, &about) != 0) return true;
  constexpr std::uint64_t kMountRoot = STATX_ATTR_MOUNT_ROOT;
  if ((about.stx_attributes_mask & kMountRoot) == 0) return true;
  return (about.stx_attributes & kMountRoot) != 0;
}

const char* lost(ViewCheck::Form form) noexcept {
  switch (form) {
    case ViewCheck::Form::kEmptyDirectory:
    case ViewCheck::Form::kClosedDirectory:
    case ViewCheck::Form::kNullDevice:
      return "not masked";
    case ViewCheck::Form::kPin:
      return "not pinned";
    case ViewCheck::Form::kReadOnlyBind:
      return "not mounted read-only";
  }
  return "not in place";
}

// Every tmpfs has a device number of its own: the same number as the parent's is an ordinary
// directory of a host tmpfs, shown read-only and not masked.
bool is_empty_mask(const Seen& parent, const Seen& leaf) {
  return leaf.read_only() && S_ISDIR(leaf.status.st_mode) && leaf.on_tmpfs() &&
         leaf.status.st_dev != parent.status.st_dev;
}

bool is_in_place(const ViewCheck& check, const Seen& parent, const Seen& leaf, int object) {
  switch (check.form) {
    case ViewCheck::Form::kNullDevice:
      return leaf.read_only() && S_ISCHR(leaf.status.st_mode) &&
             leaf.status.st_rdev == makedev(1, 3);
    case ViewCheck::Form::kEmptyDirectory:
      return is_empty_mask(parent, leaf);
    case ViewCheck::Form::kClosedDirectory:
      return is_empty_mask(parent, leaf) && (leaf.status.st_mode & ALLPERMS) == 0;
    case ViewCheck::Form::kPin:
      return S_ISDIR(leaf.status.st_mode) && leaf.identity() == check.identity &&
             may_be_mount_root(object);
    case ViewCheck::Form::kReadOnlyBind:
      return leaf.read_only() && leaf.identity() == check.identity && may_be_mount_root(object);
  }
  return false;
}

StepResult<void> check_place(const ViewCheck& check, const std::vector<std::string>& own_tmpfs) {
  const auto slash = check.path.rfind('/');
  const std::string name = check.path.substr(slash + 1);
  if (name.empty()) return miss(check.path, "no name to look for");
  const UniqueFd parent_fd = open_without_links(slash == 0 ? "/" : check.path.substr(0, slash));
  if (!parent_fd) return miss(check.path, "its directory", errno);
  LOOM_TRY(const Seen parent, look(parent_fd.get(), check.path));
  LOOM_TRY_VOID(check_parent(check, parent, own_tmpfs));
  const UniqueFd leaf_fd(::openat(parent_fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!leaf_fd) return miss(check.path, lost(check.form), errno);
  LOOM_TRY(const Seen leaf, look(leaf_fd.get(), check.path));
  if (!is_in_place(check, parent, leaf, leaf_fd.get())) return miss(check.path, lost(check.form));
  return {};
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
    LOOM_TRY_VOID(check_place(check, document.own_tmpfs));
  }
  return {};
}

}  // namespace loom::bwrap
