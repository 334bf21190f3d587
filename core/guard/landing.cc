#include "guard/landing.h"

#include <fcntl.h>
#include <loom/check.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

constexpr int kTries = 3;

// O_NONBLOCK also for writing: opening a FIFO without a reader would wait. It comes off again.
constexpr int kOpenFile = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

ObjectKind kind_of(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return ObjectKind::kDirectory;
    case S_IFREG:
      return ObjectKind::kRegular;
    case S_IFLNK:
      return ObjectKind::kLink;
    case S_IFIFO:
      return ObjectKind::kFifo;
    case S_IFSOCK:
      return ObjectKind::kSocket;
    case S_IFBLK:
      return ObjectKind::kBlockDevice;
    default:
      return ObjectKind::kCharacterDevice;
  }
}

AbsolutePath parse_real(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // made of names, which hold no NUL
  return *std::move(path);
}

// What open(2) says when the name has become a link, a FIFO, a socket, a directory or nothing.
bool says_another_object(int error) noexcept {
  return error == ELOOP || error == ENXIO || error == EISDIR || error == ENOENT || error == ENOTDIR;
}

bool may_block_again(int file) noexcept {
  const int flags = ::fcntl(file, F_GETFL);
  return flags >= 0 && ::fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

}  // namespace

WalkResult<Landing> Landing::make(std::string_view written, PathWalk walk) {
  std::vector<PathWalk::Directory>& stack = walk.stack();
  std::string real = walk.real_text();
  if (!walk.landed_on_directory()) real += (real == "/" ? "" : "/") + walk.component();
  Landing landing(parse_real(real));
  if (walk.landed_on_directory()) {
    landing.leaf_ = stack.back().name;
    landing.kind_ = ObjectKind::kDirectory;
    landing.status_ = stack.back().about;
    landing.object_ = std::move(stack.back().handle);
    stack.pop_back();
  } else {
    landing.leaf_ = walk.component();
    landing.status_ = walk.object_status();  // all zeros where the landing is absent
    landing.object_ = std::move(walk.object());
    if (walk.landed_on_object()) landing.kind_ = kind_of(landing.status_.st_mode);
  }
  if (!stack.empty()) landing.parent_ = std::move(stack.back().handle);
  landing.passed_ = std::move(walk.passed());
  landing.links_ = std::move(walk.links());
  landing.must_be_directory_ = walk.must_be_directory();
  landing.wants_null_device_ = written == "/dev/null";

  const int handle = landing.object_ ? landing.object_.get() : landing.parent_.get();
  const FileSystemKind kind = walk.calls().file_system(handle);
  if (kind == FileSystemKind::kUnknown) return landing.failed(WalkFailure::kResource, errno);
  if (kind == FileSystemKind::kProc) return landing.failed(WalkFailure::kPseudoFs);
  return landing;
}

FileIdentity Landing::identity() const noexcept {
  return exists() ? identity_of(status_) : FileIdentity{};
}

tl::unexpected<WalkError> Landing::failed(WalkFailure reason, int sys_errno) const {
  return tl::unexpected(WalkError{.reason = reason, .place = real_.str(), .sys_errno = sys_errno});
}

tl::unexpected<WalkError> Landing::effect_failed(int error) const {
  const bool resource = error == EMFILE || error == ENFILE || error == ENOMEM;
  return failed(resource ? WalkFailure::kResource : WalkFailure::kSystem, error);
}

bool Landing::is_same(const struct stat& about) const noexcept {
  return identity_of(about) == identity_of(status_) &&
         (about.st_mode & S_IFMT) == (status_.st_mode & S_IFMT);
}

WalkResult<void> Landing::require_parent() const {
  if (!parent_) return failed(WalkFailure::kBadPath);
  return {};
}

WalkResult<void> Landing::require_absent() const {
  LOOM_TRY_VOID(require_parent());
  if (exists()) return failed(WalkFailure::kSystem, EEXIST);
  return {};
}

WalkResult<void> Landing::require_file() const {
  if (!exists()) return failed(WalkFailure::kMissing, ENOENT);
  if (kind_ == ObjectKind::kDirectory) return failed(WalkFailure::kIsADirectory, EISDIR);
  if (kind_ != ObjectKind::kRegular && !is_null_device()) return failed(WalkFailure::kNotRegular);
  return {};
}

// Nothing reaches a disk through it.
bool Landing::is_null_device() const noexcept {
  return wants_null_device_ && real_.str() == "/dev/null" && guard::is_null_device(status_);
}

// Adopts what has the name now, where the judge agrees.
void Landing::look_again() {
  UniqueFd next = open_handle(parent_.get(), leaf_.c_str());
  struct stat about {};
  if (!judge_ || !next || ::fstat(next.get(), &about) != 0 || is_same(about)) return;
  if ((about.st_mode & S_IFMT) != (status_.st_mode & S_IFMT)) return;
  std::swap(object_, next);
  std::swap(status_, about);
  if (judge_(*this)) return;
  std::swap(object_, next);
  std::swap(status_, about);
}

WalkResult<UniqueFd> Landing::open_leaf(int flags) {
  for (int tries = 0; tries < kTries; ++tries) {
    UniqueFd file(
        uninterrupted([&] { return ::openat(parent_.get(), leaf_.c_str(), flags | kOpenFile); }));
    const int error = errno;
    struct stat about {};
    if (file && ::fstat(file.get(), &about) != 0) return effect_failed(errno);
    if (file && is_same(about)) {
      if (!may_block_again(file.get())) return effect_failed(errno);
      return file;
    }
    if (!file && !says_another_object(error)) return effect_failed(error);
    look_again();
  }
  return failed(WalkFailure::kRaced);
}

WalkResult<UniqueFd> Landing::read() {
  LOOM_TRY_VOID(require_file());
  return open_leaf(O_RDONLY);
}

WalkResult<UniqueFd> Landing::write(WriteMode mode) {
  LOOM_TRY_VOID(require_file());
  LOOM_TRY(UniqueFd file, open_leaf(O_WRONLY | (mode == WriteMode::kAppend ? O_APPEND : 0)));
  // Only now: O_TRUNC would have emptied a file that nobody judged.
  if (mode == WriteMode::kTruncate && kind_ == ObjectKind::kRegular &&
      uninterrupted([&] { return ::ftruncate(file.get(), 0); }) != 0) {
    return effect_failed(errno);
  }
  return file;
}

WalkResult<UniqueFd> Landing::list() const {
  if (!exists()) return failed(WalkFailure::kMissing, ENOENT);
  if (kind_ != ObjectKind::kDirectory) return failed(WalkFailure::kNotADirectory, ENOTDIR);
  UniqueFd directory(uninterrupted(
      [&] { return ::openat(object_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory) return effect_failed(errno);
  return directory;
}

WalkResult<UniqueFd> Landing::create(mode_t mode) {
  LOOM_TRY_VOID(require_absent());
  if (must_be_directory_) return failed(WalkFailure::kIsADirectory, EISDIR);
  constexpr int kCreate = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  UniqueFd file(
      uninterrupted([&] { return ::openat(parent_.get(), leaf_.c_str(), kCreate, mode); }));
  if (file) return file;
  if (errno == EEXIST) return failed(WalkFailure::kRaced, EEXIST);
  if (errno == ENOENT) return failed(WalkFailure::kMissing, ENOENT);
  return effect_failed(errno);
}

WalkResult<UniqueFd> Landing::mkdir(mode_t mode) {
  LOOM_TRY_VOID(require_absent());
  if (::mkdirat(parent_.get(), leaf_.c_str(), mode) != 0) {
    if (errno == EEXIST) return failed(WalkFailure::kRaced, EEXIST);
    if (errno == ENOENT) return failed(WalkFailure::kMissing, ENOENT);
    return effect_failed(errno);
  }
  UniqueFd made = open_handle(parent_.get(), leaf_.c_str());
  struct stat about {};
  const bool ours = made && ::fstat(made.get(), &about) == 0 && S_ISDIR(about.st_mode) &&
                    about.st_uid == ::geteuid();
  if (!ours) return failed(WalkFailure::kRaced);
  return made;
}

// The judged object still has the name.
WalkResult<void> Landing::require_same_object() {
  LOOM_TRY_VOID(require_parent());
  if (!exists()) return failed(WalkFailure::kMissing, ENOENT);
  for (int tries = 0; tries < kTries; ++tries) {
    struct stat about {};
    const int looked = ::fstatat(parent_.get(), leaf_.c_str(), &about, kLookOnly);
    if (looked == 0 && is_same(about)) return {};
    if (looked != 0 && errno != ENOENT) return effect_failed(errno);
    look_again();
  }
  return failed(WalkFailure::kRaced);
}

WalkResult<void> Landing::remove() {
  LOOM_TRY_VOID(require_same_object());
  const int flags = kind_ == ObjectKind::kDirectory ? AT_REMOVEDIR : 0;
  if (::unlinkat(parent_.get(), leaf_.c_str(), flags) != 0) return effect_failed(errno);
  return {};
}

WalkResult<struct stat> Landing::status() const {
  if (!exists()) return failed(WalkFailure::kMissing, ENOENT);
  struct stat about {};
  if (object_) {
    if (::fstat(object_.get(), &about) != 0) return effect_failed(errno);
    return about;
  }
  // Looked at by its name, as it was when it was judged.
  LOOM_TRY_VOID(require_parent());
  if (::fstatat(parent_.get(), leaf_.c_str(), &about, kLookOnly) != 0) return effect_failed(errno);
  if (!is_same(about)) return failed(WalkFailure::kRaced);
  return about;
}

WalkResult<UniqueFd> Landing::mount_source() const {
  if (!exists()) return failed(WalkFailure::kMissing, ENOENT);
  const bool mountable = kind_ == ObjectKind::kDirectory || kind_ == ObjectKind::kRegular ||
                         kind_ == ObjectKind::kSocket;
  if (!mountable || !object_) return failed(WalkFailure::kNotRegular);
  UniqueFd own(::fcntl(object_.get(), F_DUPFD_CLOEXEC, 0));
  if (!own) return effect_failed(errno);
  return own;
}

WalkResult<void> Landing::rename(Landing& from, Landing& to, RenameMode mode) {
  LOOM_TRY_VOID(to.require_parent());
  const bool replace = mode == RenameMode::kReplaceTarget && to.exists();
  if (!replace && to.exists()) return to.failed(WalkFailure::kSystem, EEXIST);
  if (to.must_be_directory_ && from.kind_ != ObjectKind::kDirectory) {
    return to.failed(WalkFailure::kNotADirectory, ENOTDIR);
  }
  LOOM_TRY_VOID(from.require_same_object());
  if (replace) LOOM_TRY_VOID(to.require_same_object());
  const auto rename_now = replace ? &::renameat : &rename_to_free_name;
  if (rename_now(from.parent_.get(), from.leaf_.c_str(), to.parent_.get(), to.leaf_.c_str()) == 0) {
    return {};
  }
  if (errno == EEXIST && !replace) return to.failed(WalkFailure::kRaced, EEXIST);
  return to.effect_failed(errno);
}

}  // namespace loom::guard
