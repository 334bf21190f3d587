#include "host/control_group_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "host/control_group_text.h"
#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {

namespace {

tl::unexpected<Error> failed(const std::string& what, int error) {
  return fail(ErrorCode::kSystem, what + ": " + errno_text(error), error);
}

using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;

Result<UniqueFd> open_file(int directory, const char* name, int flags) {
  UniqueFd file(::openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  const int error = errno;
  if (!file) return failed("open " + std::string(name), error);
  return file;
}

// readdir(3) may leave the type out.
bool is_directory_entry(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat about {};
  return ::fstatat(directory, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(about.st_mode);
}

// One removal, with what it may still cost.
class Removal {
 public:
  Result<bool> remove(int parent, const std::string& name, int depth) {
    if (depth > kMaxNestedGroups || ++seen_ > kMaxGroupsOfOne) {
      return fail(ErrorCode::kSystem, "remove " + escaped(name) + ": too many directories below");
    }
    // Most groups hold no other, and one call is all they need.
    int error = remove_empty(parent, name);
    // Groups below are ENOTEMPTY to other file systems and EBUSY to this one, as processes are.
    if (error == EBUSY || error == ENOTEMPTY) {
      LOOM_TRY(const bool emptied, remove_below(parent, name, depth));
      error = emptied ? remove_empty(parent, name) : EBUSY;
    }
    if (error == EBUSY) return false;
    if (error != 0) return failed("remove " + escaped(name), error);
    return true;
  }

 private:
  // 0 or errno.
  static int remove_empty(int parent, const std::string& name) {
    return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
  }

  Result<bool> remove_below(int parent, const std::string& name, int depth) {
    UniqueFd handle(
        ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const int error = errno;
    if (!handle && error == ENOENT) return true;
    if (!handle) return failed("open " + escaped(name), error);
    const int directory = handle.get();
    const Listing listing(::fdopendir(directory), &::closedir);
    const int no_listing = errno;
    if (!listing) return failed("list " + escaped(name), no_listing);
    static_cast<void>(handle.release());  // the listing's from here on
    bool emptied = true;
    for (const std::string& below : directories(*listing, directory)) {
      LOOM_TRY(const bool gone, remove(directory, below, depth + 1));
      emptied = emptied && gone;
    }
    return emptied;
  }

  static std::vector<std::string> directories(DIR& listing, int directory) {
    std::vector<std::string> names;
    while (names.size() <= kMaxGroupsOfOne) {
      const dirent* const entry = ::readdir(&listing);
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != ".." && is_directory_entry(directory, *entry)) {
        names.push_back(name);
      }
    }
    return names;
  }

  int seen_ = 0;
};

}  // namespace

Result<UniqueFd> open_control_directory(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int error = errno;
  if (!directory) return failed("open " + escaped(path), error);
  return directory;
}

Result<UniqueFd> open_control_directory_at(int parent, const std::string& name) {
  UniqueFd directory(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const int error = errno;
  if (!directory) return failed("open " + escaped(name), error);
  return directory;
}

Result<std::string> read_control_file(int directory, const char* name) {
  LOOM_TRY(const UniqueFd file, open_file(directory, name, O_RDONLY));
  LOOM_TRY(const Bytes bytes, read_all(file.get(), kMaxControlFileBytes, name, true));
  return std::string(as_text(bytes));
}

Result<void> write_control_file(int directory, const char* name, const std::string& text) {
  LOOM_TRY(const UniqueFd file, open_file(directory, name, O_WRONLY));
  ssize_t wrote = 0;
  do {
    wrote = ::write(file.get(), text.data(), text.size());
  } while (wrote < 0 && errno == EINTR);
  const int error = wrote < 0 ? errno : EIO;
  if (wrote == static_cast<ssize_t>(text.size())) return {};
  return failed("write " + text + " to " + name, error);
}

Result<void> switch_controllers_on(int directory) {
  LOOM_TRY(const std::string before, read_control_file(directory, kSubtreeControl));
  if (missing_controllers(before).empty()) return {};
  LOOM_TRY_VOID(write_control_file(directory, kSubtreeControl, "+memory +pids"));
  LOOM_TRY(const std::string after, read_control_file(directory, kSubtreeControl));
  if (missing_controllers(after).empty()) return {};
  return fail(ErrorCode::kSystem, std::string(kSubtreeControl) + ": does not take +memory +pids");
}

Result<bool> remove_control_directory(int parent, const std::string& name) {
  return Removal().remove(parent, name, 0);
}

}  // namespace loom::host
