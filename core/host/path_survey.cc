#include "host/path_survey.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <loom/check.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::host {

namespace {

constexpr std::size_t kMaxLinks = 40;  // as the kernel (path_resolution(7))

FileIdentity identity_of(const struct stat& about) noexcept {
  return FileIdentity{.device = about.st_dev, .inode = about.st_ino};
}

PathKind kind_of(const struct stat& about) noexcept {
  if (S_ISDIR(about.st_mode)) return PathKind::kDirectory;
  return S_ISREG(about.st_mode) ? PathKind::kRegular : PathKind::kOther;
}

void set_object(PathFact& fact, const struct stat& about) noexcept {
  fact.kind = kind_of(about);
  fact.identity = identity_of(about);
  fact.link_count = about.st_nlink;
}

AbsolutePath parse_walked(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // made of a path and of link texts, which hold no NUL
  return std::move(*path);
}

PathFact fact_without_links(const AbsolutePath& path) {
  return PathFact{.path = path,
                  .real = path,
                  .kind = PathKind::kMissing,
                  .identity = {},
                  .parent_identity = {},
                  .link_count = 0,
                  .links = {},
                  .error = 0};
}

// The text of a link named in `parent`; empty when it cannot be read.
std::string read_link(int parent, const char* name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlinkat(parent, name, text.data(), text.size());
  return size <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

// Follows links itself, one component at a time.
class Walk {
 public:
  explicit Walk(const AbsolutePath& path) : fact_(fact_without_links(path)) {
    push_components(path.str());
  }

  PathFact run() && {
    int error = start_at_root();
    while (error == 0 && !left_.empty()) {
      component_ = std::move(left_.back());
      left_.pop_back();
      error = step();
    }
    if (error == 0) {
      finish_found();
    } else {
      finish_missing(error);
    }
    return std::move(fact_);
  }

 private:
  // Last component deepest in the stack. Empty components are kept: "file/" must find a directory.
  void push_components(std::string_view text) {
    for (;;) {
      const auto slash = text.rfind('/');
      left_.emplace_back(slash == std::string_view::npos ? text : text.substr(slash + 1));
      if (slash == std::string_view::npos) return;
      text = text.substr(0, slash);
    }
  }

  int enter(UniqueFd handle) {
    if (::fstat(handle.get(), &about_) != 0) return errno;
    here_ = std::move(handle);
    return 0;
  }

  int start_at_root() {
    UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return errno;
    real_.clear();
    const int error = enter(std::move(root));
    parent_ = identity_of(about_);
    return error;
  }

  int step() {
    if (component_.empty() || component_ == ".") return S_ISDIR(about_.st_mode) ? 0 : ENOTDIR;
    if (component_ == "..") return step_up();
    UniqueFd next(::openat(here_.get(), component_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return errno;
    struct stat about {};
    if (::fstat(next.get(), &about) != 0) return errno;
    if (S_ISLNK(about.st_mode)) return follow(next.get());
    parent_ = identity_of(about_);
    about_ = about;
    here_ = std::move(next);
    real_ += '/' + component_;
    return 0;
  }

  int step_up() {
    if (!S_ISDIR(about_.st_mode)) return ENOTDIR;
    if (real_.empty()) return 0;
    UniqueFd up(::openat(here_.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!up) return errno;
    real_.erase(real_.rfind('/'));
    if (const int error = enter(std::move(up)); error != 0) return error;
    struct stat above {};
    parent_ = ::fstatat(here_.get(), "..", &above, AT_SYMLINK_NOFOLLOW) == 0 ? identity_of(above)
                                                                             : FileIdentity{};
    return 0;
  }

  int follow(int link) {
    if (fact_.links.size() == kMaxLinks) return ELOOP;
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
    if (size < 0) return errno;
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    fact_.links.push_back(
        LinkFact{.place = parse_walked(real_ + '/' + component_), .target = std::string(target)});
    push_components(target);
    return target.starts_with('/') ? start_at_root() : 0;
  }

  void finish_found() {
    fact_.real = parse_walked(real_.empty() ? "/" : real_);
    fact_.parent_identity = parent_;
    set_object(fact_, about_);
  }

  void finish_missing(int error) {
    const AbsolutePath deepest = parse_walked(real_.empty() ? "/" : real_);
    std::string text = real_ + '/' + component_;
    for (; !left_.empty(); left_.pop_back()) text += '/' + left_.back();
    fact_.real = parse_walked(text);
    fact_.error = error;
    const bool directory = S_ISDIR(about_.st_mode);
    if (directory && fact_.real.parent() == deepest) fact_.parent_identity = identity_of(about_);
  }

  PathFact fact_;
  std::vector<std::string> left_;  // components to go, the next one last
  std::string component_;          // the one in work
  std::string real_;               // walked so far; empty for the root
  UniqueFd here_;                  // the object at real_
  struct stat about_ {};           // of here_
  FileIdentity parent_;            // of the directory that holds here_
};

}  // namespace

// Four system calls when no link is on the way, which is nearly always: the parent in one step, and
// the object by name in it. One is left where the last path had the same parent.
//
// Nothing when a link is met (but one at the end) or the kernel is older than 5.6.
std::optional<PathFact> PathSurveyor::look_in_one_step(const AbsolutePath& path) {
  struct stat about {};
  auto fact = look_in(asked_, path, about);
  if (!fact || !S_ISLNK(about.st_mode)) return fact;
  return look_at_target(path, read_link(asked_.handle.get(), path.name().data()));
}

// /bin -> usr/bin and its kind: one link at the very end, whose target has none and climbs nowhere.
std::optional<PathFact> PathSurveyor::look_at_target(const AbsolutePath& path,
                                                     const std::string& target) {
  if (target.empty() || target.find("..") != std::string::npos) return std::nullopt;
  const std::string parent = path.parent().is_root() ? "/" : path.parent().str() + '/';
  const auto led = AbsolutePath::parse(target.front() == '/' ? target : parent + target);
  if (!led || target.back() == '/') return std::nullopt;
  struct stat about {};
  auto fact = look_in(targets_, *led, about);
  if (!fact || S_ISLNK(about.st_mode)) return std::nullopt;
  fact->path = path;
  fact->links.push_back(LinkFact{.place = path, .target = target});
  return fact;
}

// `about` is what the last component is, all zeros where it is not there.
std::optional<PathFact> PathSurveyor::look_in(Directory& parent, const AbsolutePath& path,
                                              struct stat& about) {
  PathFact fact = fact_without_links(path);
  fact.error = enter(parent, path.parent());
  if (fact.error != 0) {
    // A link would have said ELOOP, so up to the missing part the path is its own real path.
    const bool answer = fact.error == ENOENT || fact.error == ENOTDIR || fact.error == EACCES;
    return answer ? std::optional(std::move(fact)) : std::nullopt;
  }
  fact.parent_identity = parent.identity;
  // The name is the last component, so the NUL ends it. The root has none, and is its own parent.
  const char* const name = path.is_root() ? "." : path.name().data();
  if (::fstatat(parent.handle.get(), name, &about, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    fact.error = errno;
  } else {
    set_object(fact, about);
  }
  return fact;
}

// 0 or errno.
int PathSurveyor::enter(Directory& directory, const AbsolutePath& path) {
  if (directory.handle && directory.path == path) return 0;
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long opened = ::syscall(SYS_openat2, AT_FDCWD, path.str().c_str(), &how, sizeof how);
  const int error = errno;
  directory.handle.reset(static_cast<int>(opened));
  if (!directory.handle) return error;
  struct stat about {};
  if (::fstat(directory.handle.get(), &about) != 0) {
    const int broken = errno;
    directory.handle.reset();
    return broken;
  }
  directory.path = path;
  directory.identity = identity_of(about);
  return 0;
}

PathFact PathSurveyor::look(const AbsolutePath& path) {
  if (auto fact = look_in_one_step(path)) return std::move(*fact);
  return Walk(path).run();
}

PathFact survey_path(const AbsolutePath& path) { return PathSurveyor().look(path); }

bool is_directory(const AbsolutePath& path) noexcept {
  struct stat about {};
  return ::stat(path.str().c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace loom::host
