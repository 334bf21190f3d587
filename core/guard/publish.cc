#include "guard/publish.h"

#include <fcntl.h>
#include <loom/check.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

constexpr int kMaxNames = 16;
constexpr std::size_t kRandomCharacters = 16;
constexpr mode_t kPrivateMode = 0600;
constexpr mode_t kPermissionBits = 0777;

tl::unexpected<PublishError> failed(const Landing& target, PublishStep step, WalkFailure reason,
                                    int sys_errno = 0) {
  return tl::unexpected(PublishError{
      .step = step,
      .error = {.reason = reason, .place = target.real().str(), .sys_errno = sys_errno}});
}

tl::unexpected<PublishError> refused_by_system(const Landing& target, PublishStep step, int error) {
  if (error == ENOENT) return failed(target, step, WalkFailure::kMissing, error);
  const bool resource = error == EMFILE || error == ENFILE || error == ENOMEM;
  return failed(target, step, resource ? WalkFailure::kResource : WalkFailure::kSystem, error);
}

PublishResult check_target(const Landing& target, const Publication& publication) {
  if (target.parent() < 0) return failed(target, PublishStep::kTarget, WalkFailure::kBadPath);
  if (target.kind() == ObjectKind::kAbsent && target.must_be_directory()) {
    return failed(target, PublishStep::kTarget, WalkFailure::kIsADirectory, EISDIR);
  }
  const bool replaceable =
      target.kind() == ObjectKind::kAbsent || target.kind() == ObjectKind::kRegular ||
      (publication.replace_any_name && target.kind() != ObjectKind::kDirectory);
  if (!replaceable) return failed(target, PublishStep::kTarget, WalkFailure::kNotRegular);
  return {};
}

// Nothing when the kernel has no random bytes.
std::optional<std::string> random_characters() {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  while (text.size() < kRandomCharacters) {
    std::array<unsigned char, 64> random{};  // getentropy(3) gives up to 256 bytes
    if (::getentropy(random.data(), random.size()) != 0) return std::nullopt;
    for (const unsigned char byte : random) {
      const unsigned index = byte & 63U;  // evenly: what is past the alphabet is thrown away
      if (index < kAlphabet.size() && text.size() < kRandomCharacters) text += kAlphabet[index];
    }
  }
  return text;
}

AbsolutePath beside(const AbsolutePath& target, const std::string& name) {
  auto path = AbsolutePath::parse(target.parent().str() + '/' + name);
  LOOM_CHECK(path.has_value());  // a real path and a component of ours
  return *std::move(path);
}

bool write_all(int file, std::string_view content) noexcept {
  while (!content.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file, content.data(), content.size()); });
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The old file's bits are read from the handle that was judged.
mode_t wanted_mode(const Landing& target, const Publication& publication) {
  if (publication.mode) return *publication.mode & kPermissionBits;
  const auto old = target.status();
  if (!old || target.kind() != ObjectKind::kRegular) return kPrivateMode;
  return old->st_mode & kPermissionBits;
}

PublishResult fill(const Landing& target, const Publication& publication, UniqueFd sibling) {
  const bool filled = write_all(sibling.get(), publication.content) &&
                      ::fchmod(sibling.get(), wanted_mode(target, publication)) == 0 &&
                      uninterrupted([&] { return ::fsync(sibling.get()); }) == 0;
  const int error = errno;
  // A file system may report here what it could not write (close(2)). Linux closes the descriptor
  // even when it says EINTR.
  const bool closed = ::close(sibling.release()) == 0 || errno == EINTR;
  if (!filled) return refused_by_system(target, PublishStep::kWrite, error);
  if (!closed) return refused_by_system(target, PublishStep::kWrite, errno);
  return {};
}

PublishResult put_in_place(const Landing& target, const std::string& sibling, bool durable) {
  if (::renameat(target.parent(), sibling.c_str(), target.parent(), target.leaf().c_str()) != 0) {
    return refused_by_system(target, PublishStep::kReplace, errno);
  }
  if (!durable) return {};
  const UniqueFd directory(::openat(
      target.parent(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // the handle has no fsync
  if (!directory || uninterrupted([&] { return ::fsync(directory.get()); }) != 0) {
    return refused_by_system(target, PublishStep::kReplace, errno);
  }
  return {};
}

UniqueFd create_sibling(const Landing& target, const std::string& sibling) {
  constexpr int kCreate = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  return UniqueFd(uninterrupted(
      [&] { return ::openat(target.parent(), sibling.c_str(), kCreate, kPrivateMode); }));
}

PublishResult fill_and_replace(const Landing& target, UniqueFd file, const std::string& sibling,
                               const Publication& publication) {
  auto done = fill(target, publication, std::move(file));
  if (done) done = put_in_place(target, sibling, publication.durable);
  if (!done) ::unlinkat(target.parent(), sibling.c_str(), 0);
  return done;
}

}  // namespace

PublishResult publish_through(const Landing& target, const std::string& sibling,
                              const Publication& publication) {
  LOOM_TRY_VOID(check_target(target, publication));
  if (publication.admits && !publication.admits(beside(target.real(), sibling))) {
    return failed(target, PublishStep::kName, WalkFailure::kSystem, EACCES);
  }
  UniqueFd file = create_sibling(target, sibling);
  if (!file) return refused_by_system(target, PublishStep::kCreate, errno);
  return fill_and_replace(target, std::move(file), sibling, publication);
}

PublishResult publish(const Landing& target, const Publication& publication) {
  PublishResult done = failed(target, PublishStep::kCreate, WalkFailure::kSystem, EEXIST);
  for (int names = 0; names < kMaxNames; ++names) {
    const auto random = random_characters();
    if (!random) return refused_by_system(target, PublishStep::kName, errno);
    done = publish_through(target, '.' + *random + std::string(publication.suffix), publication);
    const bool taken = !done && done.error().step == PublishStep::kCreate &&
                       done.error().error.sys_errno == EEXIST;
    if (!taken) return done;
  }
  return done;
}

}  // namespace loom::guard
