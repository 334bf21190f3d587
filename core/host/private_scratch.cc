#include "host/private_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <loom/utf8.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "host/errno_text.h"
#include "host/file_flags.h"
#include "host/random_name.h"

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kNamesAtOnce = 1'024;
constexpr std::chrono::milliseconds kPutOff{5};  // until what only time can help is tried again
constexpr int kListDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

tl::unexpected<Error> cannot_make(const std::string& what, const std::string& why, int error) {
  const ErrorCode code = error == 0 ? ErrorCode::kDenied : ErrorCode::kSystem;
  return fail(code, "private scratch: " + escaped(what) + ": " + why, error);
}

bool is_short_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

// Nobody else may exchange what we make in it.
Result<void> check_parent(const std::string& path, int parent) {
  struct stat about {};
  if (::fstat(parent, &about) != 0) return cannot_make(path, errno_text(errno), errno);
  const bool others_write = (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = (about.st_mode & S_ISVTX) != 0;
  const bool trusted = about.st_uid == 0 || about.st_uid == ::geteuid();
  if (trusted && (sticky || !others_write)) return {};
  return cannot_make(path, "others may exchange what is made in it", 0);
}

// Some of the names in a directory, none twice; what was removed meanwhile may be among them.
// Nothing, and errno, when it cannot be listed.
std::optional<std::vector<std::string>> some_names(int directory) {
  const int again = ::openat(directory, ".", kListDirectory);
  if (again < 0) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(again), &::closedir);
  if (!listing) {
    const int error = errno;
    ::close(again);
    errno = error;
    return std::nullopt;
  }
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.push_back(name);
    if (names.size() == kNamesAtOnce) break;
  }
  return names;
}

// Takes a directory apart from above: what lies in one of its directories comes out first, so that
// no more than three are open however deep the command nested them, and each is moved once.
class Removal {
 public:
  Removal(int top, std::uint64_t device, std::uint64_t& moved, Clock::time_point until)
      : top_(top), device_(device), moved_(&moved), until_(until) {}

  [[nodiscard]] bool is_late() const { return Clock::now() >= until_; }
  // Of the last thing that could not be done.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // Whether something could not be opened that can be when others close theirs.
  [[nodiscard]] bool lacks_descriptors() const noexcept { return lacks_descriptors_; }

  // Whether `name` is gone, or its contents came a step nearer.
  bool remove(const std::string& name) {
    struct stat about {};
    if (::fstatat(top_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return note_errno();
    if (!S_ISDIR(about.st_mode)) return unlink(top_, name);
    if (::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (!is_on_device(about)) return note("a file system is mounted in it");
    open_up(top_, name, about);
    return take_apart(name);
  }

 private:
  bool note(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  // What is not there is removed.
  bool note_errno() {
    lacks_descriptors_ = lacks_descriptors_ || is_short_of_descriptors(errno);
    return errno == ENOENT || note(errno_text(errno));
  }

  [[nodiscard]] bool is_on_device(const struct stat& about) const {
    return static_cast<std::uint64_t>(about.st_dev) == device_;
  }

  // What it takes to list a directory and to move it, and a command may have taken away.
  static void open_up(int directory, const std::string& name, const struct stat& about) {
    clear_file_flags(directory, name.c_str());
    if ((about.st_mode & S_IRWXU) == S_IRWXU) return;
    [[maybe_unused]] const int opened_up =
        ::fchmodat(directory, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW);
  }

  bool unlink(int directory, const std::string& name) {
    if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return true;
    clear_file_flags(directory, name.c_str());
    return ::unlinkat(directory, name.c_str(), 0) == 0 || note_errno();
  }

  bool take_apart(const std::string& name) {
    const UniqueFd inner(::openat(top_, name.c_str(), kListDirectory));
    if (!inner) return note_errno();
    const auto names = some_names(inner.get());
    if (!names) return note_errno();
    bool any = false;
    for (const std::string& each : *names) {
      // At least one: whoever has no time at all must come to an end too.
      any = bring_out(inner.get(), each) || any;
      if (is_late()) return any;
    }
    const bool gone = ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0;
    return gone || any || (names->empty() && note_errno());
  }

  bool bring_out(int inner, const std::string& name) {
    struct stat about {};
    if (::fstatat(inner, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) return note_errno();
    if (!S_ISDIR(about.st_mode)) return unlink(inner, name);
    if (::unlinkat(inner, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (!is_on_device(about)) return note("a file system is mounted in it");
    open_up(inner, name, about);
    for (;;) {
      const std::string fresh = ".loom-exec-removal-" + std::to_string(++*moved_);
      if (::renameat(inner, name.c_str(), top_, fresh.c_str()) == 0) return true;
      const bool taken = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
      if (!taken || is_late()) return note_errno();
    }
  }

  int top_;
  std::uint64_t device_;
  std::uint64_t* moved_;
  Clock::time_point until_;
  std::string problem_;
  bool lacks_descriptors_ = false;
};

}  // namespace

Result<PrivateScratch> PrivateScratch::make(const AbsolutePath& parent, std::string_view prefix,
                                            const Announce& announce) {
  const UniqueFd holder(::open(parent.str().c_str(), kListDirectory));
  if (!holder) return cannot_make(parent.str(), errno_text(errno), errno);
  LOOM_TRY_VOID(check_parent(parent.str(), holder.get()));
  LOOM_TRY(const std::string suffix, random_hex(16));
  const std::string name = std::string(prefix) + suffix;
  LOOM_TRY(AbsolutePath path,
           AbsolutePath::parse((parent.is_root() ? "" : parent.str()) + '/' + name));
  if (prefix.find('/') != std::string_view::npos)
    return cannot_make(name, "is not a plain name", 0);
  if (announce) LOOM_TRY_VOID(announce(path));
  if (::mkdirat(holder.get(), name.c_str(), 0700) != 0) {
    return cannot_make(path.str(), errno_text(errno), errno);
  }
  PrivateScratch scratch(std::move(path));
  // A creation mask may have left out what it takes to open it.
  [[maybe_unused]] const int opened_up = ::fchmodat(holder.get(), name.c_str(), 0700, 0);
  const UniqueFd made(::openat(holder.get(), name.c_str(), kListDirectory));
  struct stat about {};
  if (!made || ::fstat(made.get(), &about) != 0) {
    return cannot_make(scratch.path_.str(), errno_text(errno), errno);
  }
  if (about.st_uid != ::geteuid() || ::fchmod(made.get(), 0700) != 0 ||
      ::fstat(made.get(), &about) != 0 || (about.st_mode & 07777) != 0700) {
    return cannot_make(scratch.path_.str(), "did not become a directory of ours with mode 0700", 0);
  }
  return scratch;
}

PrivateScratch::PrivateScratch(PrivateScratch&& other) noexcept
    : path_(std::move(other.path_)), ours_(std::exchange(other.ours_, false)) {}

PrivateScratch& PrivateScratch::operator=(PrivateScratch&& other) noexcept {
  if (this != &other) {
    static_cast<void>(remove());
    path_ = std::move(other.path_);
    ours_ = std::exchange(other.ours_, false);
  }
  return *this;
}

PrivateScratch::~PrivateScratch() { static_cast<void>(remove()); }

std::vector<std::string> PrivateScratch::remove() {
  if (!std::exchange(ours_, false)) return {};
  return remove_private_scratch(path_);
}

ScratchRemoval PrivateScratch::hand_over() {
  ours_ = false;
  return ScratchRemoval(path_);
}

bool ScratchRemoval::go_on(Clock::time_point until) {
  if (state_ == State::kNew) open();
  while (state_ == State::kOpen) {
    if (!remove_some(until)) return false;
  }
  return state_ == State::kDone;
}

// False when the time is over, or nothing more can be done for now.
bool ScratchRemoval::remove_some(Clock::time_point until) {
  if (names_.empty()) {
    auto names = some_names(top_.get());
    if (!names || names->empty()) {
      names ? remove_itself() : note_errno();
      return state_ == State::kDone;
    }
    names_ = std::move(*names);
    any_ = false;
    lacks_descriptors_ = false;
    why_.clear();
  }
  Removal removal(top_.get(), device_, moved_, until);
  do {
    any_ = removal.remove(names_.back()) || any_;
    names_.pop_back();
  } while (!names_.empty() && !removal.is_late());
  if (!removal.problem().empty()) why_ = removal.problem();
  lacks_descriptors_ = lacks_descriptors_ || removal.lacks_descriptors();
  if (!names_.empty()) return false;
  if (any_) return !removal.is_late();
  if (lacks_descriptors_) return false;
  done(why_);
  return true;
}

std::vector<std::string> ScratchRemoval::problems(std::string_view unfinished) const {
  std::string why = why_;
  if (state_ != State::kDone) {
    why = unfinished;
    if (!why_.empty()) why += "; last: " + why_;
  }
  if (why.empty()) return {};
  return {"private scratch " + escaped(path_.str()) + ": " + why};
}

void ScratchRemoval::done(std::string why) {
  state_ = State::kDone;
  why_ = std::move(why);
  top_.reset();
  holder_.reset();
}

// What is not there is gone. Not the end of it where only time can help: descriptors come free, and
// somebody who outlived the run may have made something since the last look.
void ScratchRemoval::note_errno() {
  const int error = errno;
  if (error == ENOENT) return done();
  if (error != ENOTEMPTY && error != EEXIST && !is_short_of_descriptors(error)) {
    return done(errno_text(error));
  }
  why_ = errno_text(error);
}

void ScratchRemoval::remove_itself() {
  const std::string name(path_.name());
  if (::unlinkat(holder_.get(), name.c_str(), AT_REMOVEDIR) == 0) return done();
  note_errno();
}

// Finds the directory, and is done where there is none of ours.
void ScratchRemoval::open() {
  holder_.reset(::open(path_.parent().str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!holder_) return note_errno();
  const std::string name(path_.name());
  struct stat about {};
  if (::fstatat(holder_.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    return note_errno();
  }
  if (!S_ISDIR(about.st_mode)) return done("is not a directory");
  if (about.st_uid != ::geteuid()) return done("belongs to somebody else");
  clear_file_flags(holder_.get(), name.c_str());
  [[maybe_unused]] const int opened_up =
      ::fchmodat(holder_.get(), name.c_str(), 0700, AT_SYMLINK_NOFOLLOW);
  top_.reset(::openat(holder_.get(), name.c_str(), kListDirectory));
  struct stat opened {};
  if (!top_ || ::fstat(top_.get(), &opened) != 0) return note_errno();
  if (opened.st_dev != about.st_dev || opened.st_ino != about.st_ino) {
    return done("was exchanged while it was opened");
  }
  device_ = static_cast<std::uint64_t>(about.st_dev);
  state_ = State::kOpen;
}

std::vector<std::string> remove_private_scratch(const AbsolutePath& directory) {
  const auto until = Clock::now() + kScratchRemovalLimit;
  ScratchRemoval removal(directory);
  while (!removal.go_on(until) && Clock::now() < until) std::this_thread::sleep_for(kPutOff);
  return removal.problems();
}

}  // namespace loom::host
