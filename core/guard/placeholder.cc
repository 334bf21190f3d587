#include "guard/placeholder.h"

#include <dirent.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

constexpr mode_t kModeBits = 07777;
constexpr std::size_t kMaxEntries = 4'096;
constexpr std::size_t kMaxDepth = 256;

constexpr int kList = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

class Inspection {
 public:
  [[nodiscard]] bool only_placeholders(UniqueFd directory, std::size_t depth) noexcept {
    struct stat about {};
    if (depth > kMaxDepth || ::fstat(directory.get(), &about) != 0) return false;
    if (!S_ISDIR(about.st_mode) || !bears_mark(about.st_mode)) return false;
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(directory.get()), &::closedir);
    if (!listing) return false;
    static_cast<void>(directory.release());  // the listing closes it
    return holds_only_placeholders(*listing, about.st_dev, depth);
  }

 private:
  [[nodiscard]] bool holds_only_placeholders(DIR& listing, dev_t device,
                                             std::size_t depth) noexcept {
    for (;;) {
      errno = 0;
      const dirent* const entry = next(listing);
      if (entry == nullptr) return errno == 0;
      if (++entries_ > kMaxEntries) return false;
      if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) return false;
      if (!is_placeholder_in(::dirfd(&listing), entry->d_name, device, depth + 1)) return false;
    }
  }

  // Looks at the mode before it opens anything: an ordinary directory is never opened for listing.
  // What was removed since it was listed is no reason against: other helpers come and go.
  [[nodiscard]] bool is_placeholder_in(int parent, const char* name, dev_t device,
                                       std::size_t depth) noexcept {
    struct stat about {};
    if (::fstatat(parent, name, &about, kLookOnly) != 0) {
      return errno == ENOENT;
    }
    if (!S_ISDIR(about.st_mode) || about.st_dev != device || !bears_mark(about.st_mode)) {
      return false;
    }
    UniqueFd directory(::openat(parent, name, kList | O_NOFOLLOW));
    if (!directory) return errno == ENOENT;
    return only_placeholders(std::move(directory), depth);
  }

  // The next entry but "." and "..", or null: at the end, or with errno set.
  [[nodiscard]] static const dirent* next(DIR& listing) noexcept {
    for (;;) {
      const dirent* const entry = ::readdir(&listing);
      if (entry == nullptr) return nullptr;
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
        return entry;
      }
    }
  }

  std::size_t entries_ = 0;
};

}  // namespace

bool bears_mark(mode_t mode) noexcept {
  const mode_t bits = mode & kModeBits;
  return bits == kLeafMode || bits == kIntermediateMode;
}

bool is_placeholder(int directory_fd) noexcept {
  struct stat about {};
  if (::fstat(directory_fd, &about) != 0 || !S_ISDIR(about.st_mode)) return false;
  if (!bears_mark(about.st_mode)) return false;
  UniqueFd directory = open_unsearchable(directory_fd);
  return directory && Inspection().only_placeholders(std::move(directory), 1);
}

bool is_placeholder(int parent_fd, const char* name) noexcept {
  struct stat about {};
  if (::fstatat(parent_fd, name, &about, kLookOnly) != 0) return false;
  if (!S_ISDIR(about.st_mode) || !bears_mark(about.st_mode)) return false;
  UniqueFd directory(::openat(parent_fd, name, kList | O_NOFOLLOW));
  return directory && Inspection().only_placeholders(std::move(directory), 1);
}

}  // namespace loom::guard
