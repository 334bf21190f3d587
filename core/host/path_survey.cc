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

std::optional<PathFact> survey_in_one_step(const AbsolutePath& path, bool follow);

// /bin -> usr/bin and its kind: one link at the very end, whose target has none and climbs nowhere.
std::optional<PathFact> survey_last_link(const AbsolutePath& path, const std::string& target) {
  if (target.empty() || target.find("..") != std::string::npos) return std::nullopt;
  const std::string parent = path.parent().is_root() ? "/" : path.parent().str() + '/';
  const auto led = AbsolutePath::parse(target.front() == '/' ? target : parent + target);
  if (!led || target.back() == '/') return std::nullopt;
  auto fact = survey_in_one_step(*led, false);
  if (!fact) return std::nullopt;
  fact->path = path;
  fact->links.push_back(LinkFact{.place = path, .target = target});
  return fact;
}

// Four system calls when no link is on the way, which is nearly always: the parent in one step, and
// the object by name in it. Nothing when a link is met (but, with `follow`, one at the end) or the
// kernel is older than 5.6.
std::optional<PathFact> survey_in_one_step(const AbsolutePath& path, bool follow) {
  PathFact fact = fact_without_links(path);
  const std::string parent_path = path.parent().str();
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long opened = ::syscall(SYS_openat2, AT_FDCWD, parent_path.c_str(), &how, sizeof how);
  const UniqueFd parent(static_cast<int>(opened));
  if (!parent) {
    fact.error = errno;
    // A link would have said ELOOP, so up to the missing part the path is its own real path.
    const bool answer = fact.error == ENOENT || fact.error == ENOTDIR || fact.error == EACCES;
    return answer ? std::optional(std::move(fact)) : std::nullopt;
  }
  struct stat about {};
  if (::fstat(parent.get(), &about) != 0) return std::nullopt;
  fact.parent_identity = identity_of(about);
  if (path.is_root()) {
    set_object(fact, about);
    return fact;
  }
  const char* const name = path.name().data();  // the last component, so the NUL ends it
  if (::fstatat(parent.get(), name, &about, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
    fact.error = errno;
    return fact;
  }
  if (S_ISLNK(about.st_mode)) {
    return follow ? survey_last_link(path, read_link(parent.get(), name)) : std::nullopt;
  }
  set_object(fact, about);
  return fact;
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

PathFact survey_path(const AbsolutePath& path) {
  if (auto fact = survey_in_one_step(path, true)) return std::move(*fact);
  return Walk(path).run();
}

bool is_directory(const AbsolutePath& path) noexcept {
  struct stat about {};
  return ::stat(path.str().c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace loom::host
