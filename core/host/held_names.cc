#include "host/held_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "guard/placeholder.h"
#include "guard/reopen.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

constexpr mode_t kModeBits = 07777;
constexpr mode_t kOrdinaryMode = 0777;  // what mkdir(1) asks for
constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Another helper holds the exclusive lock for two system calls.
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::microseconds kPause{200};

tl::unexpected<Error> refused(const AbsolutePath& path, const char* step, int error) {
  return fail(
      ErrorCode::kSystem,
      "placeholder for a protected path: " + escaped(path.str()) + ": " + step + errno_text(error),
      error);
}

tl::unexpected<Error> changed(const AbsolutePath& path) {
  return fail(ErrorCode::kDenied,
              "protected path " + escaped(path.str()) + " changed while the run was planned");
}

FileIdentity identity_of(const struct stat& about) {
  return {.device = about.st_dev, .inode = about.st_ino};
}

std::optional<struct stat> look_at(int directory) {
  struct stat about {};
  if (::fstat(directory, &about) != 0) return std::nullopt;
  return about;
}

// Nothing, with errno, when `name` in `parent` cannot be looked at.
std::optional<FileIdentity> identity_at(int parent, const std::string& name) {
  struct stat about {};
  if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    return std::nullopt;
  }
  return identity_of(about);
}

// Whether `name` in `parent` is the object of `identity`. False with errno 0: it is another's.
bool has_name(const FileIdentity& identity, int parent, const std::string& name) {
  const auto found = identity_at(parent, name);
  if (found) errno = 0;
  return found == identity;
}

// Whether it is known not to be: gone, or another's.
bool has_lost_name(const FileIdentity& identity, int parent, const std::string& name) {
  return !has_name(identity, parent, name) && (errno == 0 || errno == ENOENT);
}

// The owner's right to enter a directory and to change it, for as long as this lives: a command may
// have taken it away. The handle may be O_PATH, which fchmod(2) refuses.
class LentRights {
 public:
  explicit LentRights(int directory) : link_("/proc/self/fd/" + std::to_string(directory)) {
    const auto about = look_at(directory);
    if (!about || (about->st_mode & kNeeded) == kNeeded) return;
    before_ = about->st_mode & kModeBits;
    lent_ = ::chmod(link_.c_str(), before_ | kNeeded) == 0;
  }
  ~LentRights() {
    if (lent_) ::chmod(link_.c_str(), before_);
  }
  LentRights(const LentRights&) = delete;
  LentRights& operator=(const LentRights&) = delete;
  LentRights(LentRights&&) = delete;
  LentRights& operator=(LentRights&&) = delete;

  [[nodiscard]] bool lent() const noexcept { return lent_; }

 private:
  static constexpr mode_t kNeeded = S_IWUSR | S_IXUSR;
  std::string link_;
  mode_t before_ = 0;
  bool lent_ = false;
};

// 0 when the name is gone, or another's; else errno.
int remove_name(const FileIdentity& identity, int parent, const std::string& name) {
  if (!has_name(identity, parent, name)) return errno == ENOENT ? 0 : errno;
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

// Each name needs a descriptor, and so may the directory above it.
Result<void> check_descriptors(std::size_t names) {
  constexpr rlim_t kOthers = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || 2 * names + kOthers <= limit.rlim_cur) return {};
  return fail(ErrorCode::kUnsupported,
              "the policy needs " + std::to_string(names) +
                  " placeholders for absent protected paths, which is more than the limit of " +
                  std::to_string(limit.rlim_cur) + " open descriptors allows");
}

// Through the handle, whatever rights the command left to it. False when it cannot be listed.
bool is_empty(int directory) {
  UniqueFd copy(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(copy ? ::fdopendir(copy.get()) : nullptr,
                                                    &::closedir);
  if (!listing) return false;
  static_cast<void>(copy.release());  // the listing closes it
  ::rewinddir(listing.get());
  errno = 0;
  while (const dirent* const entry = ::readdir(listing.get())) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) return false;
  }
  return errno == 0;
}

// A directory that inherits its group's mark or an access list is born with another mode.
bool set_mode(int directory, mode_t mode) {
  const auto about = look_at(directory);
  if (about && (about->st_mode & kModeBits) == mode) return true;
  if (!about || ::fchmod(directory, mode) != 0) return false;
  const auto now = look_at(directory);
  return now && (now->st_mode & kModeBits) == mode;
}

std::string name_of(const AbsolutePath& path) { return std::string(path.name()); }

}  // namespace

// Makes or adopts one name after the other.
class NameTaker {
 public:
  NameTaker(mode_t creation_mask, const Syscalls& syscalls)
      : syscalls_(syscalls), names_(creation_mask, syscalls) {}

  Result<void> take(const WantedName& wanted) {
    LOOM_TRY(const HeldNames::Handle parent, directory_above(wanted));
    std::optional<FileIdentity> made;
    for (;;) {
      auto held = try_once(wanted, parent, made);
      if (held && *held) {
        directories_.emplace(wanted.path, (*held)->directory);
        names_.held_.push_back(std::move(**held));
        return {};
      }
      if (held && std::chrono::steady_clock::now() < deadline_) {
        std::this_thread::sleep_for(kPause);
        continue;
      }
      if (made) take_back(wanted, parent, *made);
      if (!held) return tl::unexpected(std::move(held).error());
      return refused(wanted.path, "somebody keeps it locked: ", EWOULDBLOCK);
    }
  }

  HeldNames names() { return std::move(names_); }

 private:
  Result<HeldNames::Handle> directory_above(const WantedName& wanted) {
    const AbsolutePath above = wanted.path.parent();
    const auto known = directories_.find(above);
    if (known != directories_.end()) return known->second;
    LOOM_TRY(UniqueFd handle, guard::reopen(above, wanted.parent));
    auto shared = std::make_shared<const UniqueFd>(std::move(handle));
    directories_.emplace(above, shared);
    return HeldNames::Handle(std::move(shared));
  }

  // Nothing: another helper was just removing it. `made` is what was made here last, by whichever
  // attempt: another helper may make the name between two.
  Result<std::optional<HeldNames::Held>> try_once(const WantedName& wanted,
                                                  const HeldNames::Handle& parent,
                                                  std::optional<FileIdentity>& made) {
    const std::string name = name_of(wanted.path);
    const bool fresh = ::mkdirat(parent->get(), name.c_str(), mode_of(wanted)) == 0;
    if (!fresh && errno == ENOENT) return changed(wanted.path);  // the directory above is gone
    if (!fresh && errno != EEXIST) return refused(wanted.path, "make: ", errno);
    if (fresh) made = identity_at(parent->get(), name);
    UniqueFd directory(::openat(parent->get(), name.c_str(), kDirectory));
    if (!directory && errno == ENOENT) return std::optional<HeldNames::Held>();
    if (!directory && !fresh && (errno == ENOTDIR || errno == ELOOP || errno == EACCES)) {
      return changed(wanted.path);
    }
    if (!directory) return refused(wanted.path, "open: ", errno);
    LOOM_TRY(const bool locked, lock(wanted, directory.get(), fresh));
    const auto about = look_at(directory.get());
    const bool ours = about && locked && has_name(identity_of(*about), parent->get(), name);
    if (!ours) return std::optional<HeldNames::Held>();
    LOOM_TRY_VOID(check_found(wanted, directory.get()));
    return std::optional(
        HeldNames::Held{.path = wanted.path,
                        .identity = identity_of(*about),
                        .made = made == identity_of(*about),
                        .intermediate = wanted.intermediate,
                        .parent = parent,
                        .directory = std::make_shared<const UniqueFd>(std::move(directory))});
  }

  static mode_t mode_of(const WantedName& wanted) {
    return wanted.intermediate ? guard::kIntermediateMode : guard::kLeafMode;
  }

  // False: somebody else has the exclusive lock.
  Result<bool> lock(const WantedName& wanted, int directory, bool fresh) const {
    if (fresh && !set_mode(directory, mode_of(wanted))) {
      return refused(wanted.path, "the file system does not keep its mode: ", ENOTSUP);
    }
    if (syscalls_.flock(directory, LOCK_SH | LOCK_NB) == 0) return true;
    if (errno == EWOULDBLOCK || errno == EINTR) return false;
    return refused(wanted.path,
                   "lock, which this file system may not have for directories: ", errno);
  }

  // Under the lock: nobody of ours removes it now.
  static Result<void> check_found(const WantedName& wanted, int directory) {
    if (!guard::is_placeholder(directory)) return changed(wanted.path);
    // It may be another run's protected path, which its mask hides whatever the mode.
    if (wanted.intermediate && !set_mode(directory, guard::kIntermediateMode)) {
      return refused(wanted.path, "make room for names below: ", EPERM);
    }
    return {};
  }

  // What was made and is not held after all. Whoever has it locked may be a run that adopted it.
  void take_back(const WantedName& wanted, const HeldNames::Handle& parent,
                 const FileIdentity& made) const {
    const std::string name = name_of(wanted.path);
    const UniqueFd directory(::openat(parent->get(), name.c_str(), kDirectory));
    if (directory && syscalls_.flock(directory.get(), LOCK_EX | LOCK_NB) != 0 &&
        errno == EWOULDBLOCK) {
      return;
    }
    static_cast<void>(remove_name(made, parent->get(), name));
  }

  const Syscalls& syscalls_;
  HeldNames names_;
  std::map<AbsolutePath, HeldNames::Handle> directories_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + kPatience;
};

Result<HeldNames> HeldNames::take(const std::vector<WantedName>& wanted, mode_t creation_mask,
                                  const Syscalls& syscalls) {
  LOOM_TRY_VOID(check_descriptors(wanted.size()));
  NameTaker taker(creation_mask, syscalls);
  for (const WantedName& name : wanted) {
    auto taken = taker.take(name);
    if (taken) continue;
    taker.names().give_back();
    return tl::unexpected(std::move(taken).error());
  }
  return taker.names();
}

std::vector<FileIdentity> HeldNames::identities() const {
  std::vector<FileIdentity> identities;
  for (const Held& held : held_) identities.push_back(held.identity);
  return identities;
}

bool HeldNames::remove_one(const Held& held, std::vector<std::string>& problems) const {
  const int parent = held.parent->get();
  const std::string name = name_of(held.path);
  // The kernel takes our shared lock away before it looks for others (flock(2)): of two who let go
  // at once, the second gets this one.
  if (syscalls_->flock(held.directory->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return has_lost_name(held.identity, parent, name);
    problems.push_back(refused(held.path, "lock: ", errno).value().message);
    return true;
  }
  int error = remove_name(held.identity, parent, name);
  if (error == EACCES) {
    const LentRights rights(parent);
    if (rights.lent()) error = remove_name(held.identity, parent, name);
  }
  if (error == ENOTEMPTY || error == EEXIST) {
    leave_as_ordinary(held);
  } else if (error != 0) {
    problems.push_back(refused(held.path, "remove: ", error).value().message);
  }
  return true;
}

// Under the exclusive lock, so it is nobody's placeholder any more. A mode that the command gave it
// stays.
void HeldNames::leave_as_ordinary(const Held& held) const {
  const int directory = held.directory->get();
  const auto about = look_at(directory);
  if (!about || !guard::bears_mark(about->st_mode)) return;
  const auto above = look_at(held.parent->get());
  const mode_t inherited = above ? above->st_mode & S_ISGID : 0;
  static_cast<void>(set_mode(directory, (kOrdinaryMode & ~creation_mask_) | inherited));
}

std::vector<std::string> HeldNames::remove(Attempt attempt) {
  std::vector<std::string> problems;
  std::vector<Held> tried = std::exchange(held_, {});
  // held_ takes those that wait, the innermost first.
  for (; !tried.empty(); tried.pop_back()) {
    Held& held = tried.back();
    if (attempt == Attempt::kLast) {
      static_cast<void>(remove_one(held, problems));
    } else if (has_waiting_below(held.path) || !remove_one(held, problems)) {
      syscalls_->flock(held.directory->get(), LOCK_UN);
      held_.push_back(std::move(held));
    }
  }
  std::reverse(held_.begin(), held_.end());
  return problems;
}

// A directory is not to be left as an ordinary one for the sake of a name in it that may go yet.
bool HeldNames::has_waiting_below(const AbsolutePath& path) const {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& held) { return held.path.is_within(path); });
}

bool HeldNames::waits_without_need() const {
  return std::any_of(held_.begin(), held_.end(), [](const Held& held) {
    return held.intermediate && is_empty(held.directory->get());
  });
}

void HeldNames::leave_to(const std::vector<FileIdentity>& holder) {
  std::erase_if(held_, [&](const Held& held) {
    return std::find(holder.begin(), holder.end(), held.identity) != holder.end();
  });
}

// After a failure, which has its own words: ours go, and those of others are as they were.
void HeldNames::give_back() {
  std::vector<std::string> unsaid;
  while (!held_.empty()) {
    const Held held = std::move(held_.back());
    held_.pop_back();
    if (held.made) static_cast<void>(remove_one(held, unsaid));
  }
}

}  // namespace loom::host
