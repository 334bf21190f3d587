#include "app/git_identity_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "host/random_name.h"

namespace loom::app {
namespace {

constexpr mode_t kMode = 0600;
constexpr std::size_t kRandomBytes = 16;

// Security: O_NOFOLLOW with O_DIRECTORY refuses a link whatever it leads to, also one that was
// planted after the policy was judged. O_PATH neither waits for anything nor needs the right to
// list.
constexpr int kSearch = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

IdentityRefusal why_not_entered(int error) noexcept {
  if (error == ENOENT) return IdentityRefusal::kHomeMissing;
  if (error == ENOTDIR || error == ELOOP) return IdentityRefusal::kHomeThroughLink;
  return IdentityRefusal::kHomeUnusable;
}

IdentityResult<void> enter(WalkedDirectory& walked, int from, const char* name) {
  UniqueFd next(::openat(from, name, kSearch));
  if (!next) return tl::unexpected(why_not_entered(errno));
  struct stat about {};
  if (::fstat(next.get(), &about) != 0) return tl::unexpected(IdentityRefusal::kHomeUnusable);
  walked.passed.push_back({.device = about.st_dev, .inode = about.st_ino});
  walked.handle = std::move(next);
  return {};
}

bool write_all(int file, std::string_view content) noexcept {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A file system may report here what it could not write (close(2)). Linux closes the descriptor
// even when it says EINTR.
bool close_checked(UniqueFd file) noexcept {
  return ::close(file.release()) == 0 || errno == EINTR;
}

IdentityResult<void> fill(UniqueFd file, std::string_view content) {
  const bool written = ::fchmod(file.get(), kMode) == 0 && write_all(file.get(), content);
  if (!close_checked(std::move(file)) || !written) return tl::unexpected(IdentityRefusal::kWrite);
  return {};
}

IdentityResult<void> fill_and_rename(int directory, UniqueFd temporary, const Replacement& file) {
  LOOM_TRY_VOID(fill(std::move(temporary), file.content));
  if (::renameat(directory, file.temporary, directory, file.name) != 0) {
    return tl::unexpected(IdentityRefusal::kReplace);
  }
  return {};
}

}  // namespace

IdentityResult<WalkedDirectory> walk_to_directory(const AbsolutePath& path) {
  WalkedDirectory walked;
  LOOM_TRY_VOID(enter(walked, AT_FDCWD, "/"));
  std::string_view rest = std::string_view(path.str()).substr(1);
  while (!rest.empty()) {
    const std::string component(rest.substr(0, rest.find('/')));
    LOOM_TRY_VOID(enter(walked, walked.handle.get(), component.c_str()));
    rest.remove_prefix(std::min(component.size() + 1, rest.size()));
  }
  return walked;
}

IdentityResult<void> replace_file(int directory, const Replacement& file) {
  UniqueFd temporary(::openat(directory, file.temporary,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (!temporary) return tl::unexpected(IdentityRefusal::kCreate);
  auto done = fill_and_rename(directory, std::move(temporary), file);
  if (!done) ::unlinkat(directory, file.temporary, 0);
  return done;
}

IdentityResult<std::string> make_temporary_name() {
  const auto hex = host::random_hex(kRandomBytes);
  if (!hex) return tl::unexpected(IdentityRefusal::kRandomness);
  return ".gitconfig-" + *hex;
}

}  // namespace loom::app
