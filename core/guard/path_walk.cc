#include "guard/path_walk.h"

#include <fcntl.h>
#include <loom/check.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

constexpr std::size_t kMaxLinks = 40;  // as the kernel (path_resolution(7))
constexpr std::size_t kMaxDirectories = 256;
constexpr std::size_t kMaxPathBytes = 4'095;
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxPendingBytes = 65'536;

constexpr int kHandle = O_PATH | O_NOFOLLOW | O_CLOEXEC;

bool ends_as_directory(std::string_view text) noexcept {
  return text.ends_with('/') || text.ends_with("/.") || text == ".";
}

// The components but ".", last one first.
std::vector<std::string> components_backwards(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const auto slash = text.rfind('/');
    const std::string_view component =
        slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (!component.empty() && component != ".") found.emplace_back(component);
    text = slash == std::string_view::npos ? std::string_view() : text.substr(0, slash);
  }
  return found;
}

AbsolutePath parse_walked(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // made of names and link texts, which hold no NUL
  return *std::move(path);
}

bool is_out_of_resources(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

}  // namespace

std::optional<WalkFailure> why_not_followed(const struct stat& link, const struct stat& directory,
                                            FileSystemKind kind) noexcept {
  if (kind == FileSystemKind::kUnknown) return WalkFailure::kResource;
  if (kind == FileSystemKind::kProc) return WalkFailure::kMagicLink;
  const bool shared = (directory.st_mode & S_ISVTX) != 0 && (directory.st_mode & S_IWOTH) != 0;
  if (shared && link.st_uid != directory.st_uid && link.st_uid != ::geteuid()) {
    return WalkFailure::kLinkUntrusted;
  }
  return std::nullopt;
}

WalkResult<void> PathWalk::run(std::string_view path) {
  LOOM_CHECK(stack_.empty());
  const bool sound = path.starts_with('/') && path.size() <= kMaxPathBytes &&
                     path.find('\0') == std::string_view::npos;
  if (!sound) return failed(WalkFailure::kBadPath, path.size() > kMaxPathBytes ? ENAMETOOLONG : 0);
  LOOM_TRY_VOID(splice(path));
  LOOM_TRY_VOID(enter_root());
  while (!pending_.empty()) LOOM_TRY_VOID(step());
  return {};
}

std::string PathWalk::real_text() const {
  std::string text;
  for (const Directory& directory : stack_) {
    if (!directory.name.empty()) text += '/' + directory.name;
  }
  return text.empty() ? "/" : text;
}

std::string PathWalk::rest() const {
  std::string text;
  for (std::size_t left = pending_.size(); left > 0; --left) text += '/' + pending_[left - 1];
  return text;
}

tl::unexpected<WalkError> PathWalk::failed(WalkFailure reason, int sys_errno) const {
  const std::string here = real_text();
  return tl::unexpected(
      WalkError{.reason = reason,
                .place = component_.empty() ? here : (here == "/" ? here : here + '/') + component_,
                .sys_errno = sys_errno});
}

tl::unexpected<WalkError> PathWalk::lookup_failed(int error) const {
  if (error == ENOENT) return failed(WalkFailure::kMissing, error);
  if (error == EACCES) return failed(WalkFailure::kSearchDenied, error);
  if (error == ENOTDIR) return failed(WalkFailure::kNotADirectory, error);
  if (error == ENAMETOOLONG) return failed(WalkFailure::kTooLong, error);
  return failed(is_out_of_resources(error) ? WalkFailure::kResource : WalkFailure::kSystem, error);
}

// Puts the components of a text in front of what is still to go; all of them or none.
WalkResult<void> PathWalk::splice(std::string_view text) {
  std::vector<std::string> components = components_backwards(text);
  std::size_t bytes = pending_bytes_;
  for (const std::string& component : components) {
    if (component.size() > kMaxComponentBytes) return failed(WalkFailure::kTooLong, ENAMETOOLONG);
    bytes += component.size() + 1;
  }
  if (bytes > kMaxPendingBytes) return failed(WalkFailure::kTooManyLinks, ELOOP);
  if (pending_.empty() && ends_as_directory(text)) must_be_directory_ = true;
  std::move(components.begin(), components.end(), std::back_inserter(pending_));
  pending_bytes_ = bytes;
  return {};
}

WalkResult<void> PathWalk::enter_root() {
  Found root{.handle = UniqueFd(
                 uninterrupted([] { return ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); }))};
  if (!root.handle || ::fstat(root.handle.get(), &root.about) != 0) return lookup_failed(errno);
  return push(std::move(root));
}

WalkResult<void> PathWalk::step() {
  component_ = std::move(pending_.back());
  pending_.pop_back();
  pending_bytes_ -= component_.size() + 1;
  if (component_ == "..") {
    // Popped, not opened: after a rename ".." is a directory that never was on this way.
    if (stack_.size() > 1) stack_.pop_back();
    component_.clear();
    return {};
  }
  LOOM_TRY(std::optional<Found> found, look_up());
  if (!found) {
    absent_ = true;
    return {};
  }
  if (S_ISLNK(found->about.st_mode)) return meet_link(std::move(*found));
  if (S_ISDIR(found->about.st_mode)) return push(std::move(*found));
  if (!pending_.empty() || must_be_directory_) {
    return failed(WalkFailure::kNotADirectory, ENOTDIR);
  }
  land_on(std::move(*found));
  return {};
}

UniqueFd PathWalk::open_next(int flags) const {
  return UniqueFd(uninterrupted(
      [&] { return ::openat(stack_.back().handle.get(), component_.c_str(), kHandle | flags); }));
}

// nullopt: the last component, and not there.
WalkResult<std::optional<PathWalk::Found>> PathWalk::look_up() {
  Found found{.handle = open_next(0)};
  const int error = found.handle ? 0 : errno;
  if (error == ENOENT && pending_.empty()) return std::optional<Found>();
  if (error != 0) return lookup_failed(error);
  if (::fstat(found.handle.get(), &found.about) != 0) return lookup_failed(errno);
  if (options_.enter_automounts) LOOM_TRY_VOID(enter_automount(found));
  return std::optional(std::move(found));
}

// O_PATH alone does not make an automounter mount; asking for a directory does.
WalkResult<void> PathWalk::enter_automount(Found& found) const {
  if (!may_be_automount(found.about)) return {};
  if (file_system_of(found.handle.get()) != FileSystemKind::kAutomount) return {};
  UniqueFd mounted = open_next(O_DIRECTORY);
  if (!mounted) return lookup_failed(errno);
  found.handle = std::move(mounted);
  if (::fstat(found.handle.get(), &found.about) != 0) return lookup_failed(errno);
  return {};
}

WalkResult<void> PathWalk::push(Found found) {
  if (stack_.size() == kMaxDirectories) return failed(WalkFailure::kTooDeep, ENAMETOOLONG);
  passed_.push_back(identity_of(found.about));
  stack_.push_back(
      {.name = std::move(component_), .handle = std::move(found.handle), .about = found.about});
  component_.clear();
  return {};
}

WalkResult<void> PathWalk::meet_link(Found link) {
  const bool last = pending_.empty() && !must_be_directory_;
  if (last && options_.leaf == LeafMode::kAsNamed) {
    land_on(std::move(link));
    return {};
  }
  if (options_.refuse_links || (last && options_.leaf == LeafMode::kRefuseLink)) {
    return failed(WalkFailure::kLinkRefused, ELOOP);
  }
  const Directory& here = stack_.back();
  const FileSystemKind kind = file_system_of(here.handle.get());
  if (const auto why = why_not_followed(link.about, here.about, kind)) {
    return failed(*why, *why == WalkFailure::kLinkUntrusted ? EACCES : ELOOP);
  }
  if (links_.size() == kMaxLinks) return failed(WalkFailure::kTooManyLinks, ELOOP);
  return follow(link.handle.get());
}

WalkResult<void> PathWalk::follow(int link) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
  if (size < 0) return lookup_failed(errno);
  if (size == 0) return failed(WalkFailure::kMissing, ENOENT);
  if (static_cast<std::size_t>(size) > kMaxPathBytes) {
    return failed(WalkFailure::kTooLong, ENAMETOOLONG);
  }
  const std::string_view target(text.data(), static_cast<std::size_t>(size));
  links_.push_back(LinkFact{.place = parse_walked(real_text() + '/' + component_),
                            .target = std::string(target)});
  std::vector<FileIdentity>& holders = link_directories_.emplace_back();
  for (const Directory& directory : stack_) holders.push_back(identity_of(directory.about));
  LOOM_TRY_VOID(splice(target));
  component_.clear();
  if (target.starts_with('/')) stack_.erase(std::next(stack_.begin()), stack_.end());
  return {};
}

void PathWalk::land_on(Found found) {
  object_ = std::move(found.handle);
  object_status_ = found.about;
}

}  // namespace loom::guard
