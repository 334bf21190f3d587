#include "guard/path_walk.h"

#include <loom/check.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

#include "guard/file_system.h"
#include "law/name_key.h"

namespace loom::guard {
namespace {

constexpr std::size_t kMaxLinks = 40;  // as the kernel (path_resolution(7))
constexpr std::size_t kMaxDirectories = 256;
constexpr std::size_t kMaxPathBytes = 4'095;
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxPendingBytes = 65'536;

// Where macOS mounts what firmlinks(5) lead to, by the keys of the names.
constexpr std::array<std::string_view, 3> kDataVolume = {"system", "volumes", "data"};

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
  if (error == EAGAIN) return failed(WalkFailure::kRaced, error);
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
  LookedUp root = calls_->root();
  if (root.error != 0) return lookup_failed(root.error);
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
  LOOM_TRY(std::optional<LookedUp> found, look_up());
  spell_component(found ? &*found : nullptr);
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

// nullopt: the last component, and not there.
WalkResult<std::optional<LookedUp>> PathWalk::look_up() {
  const Directory& here = stack_.back();
  if (!here.handle) return lookup_failed(EACCES);
  LookedUp found = calls_->look_up(here.handle.get(), component_, options_.enter_automounts);
  if (found.error == ENOENT && pending_.empty()) return std::optional<LookedUp>();
  if (found.error != 0) return lookup_failed(found.error);
  return std::optional(std::move(found));
}

// As real paths have it: what is there as its directory spells it, what is absent as it was
// written.
void PathWalk::spell_component(const LookedUp* found) {
  if (found != nullptr && !found->stored.empty()) component_ = found->stored;
  const bool is_link = found != nullptr && S_ISLNK(found->about.st_mode);
  if (stack_.size() == 1 && !is_link) component_ = calls_->name_in_root(component_);
}

WalkResult<void> PathWalk::push(LookedUp found) {
  if (stack_.size() == kMaxDirectories) return failed(WalkFailure::kTooDeep, ENAMETOOLONG);
  passed_.push_back(identity_of(found.about));
  stack_.push_back(
      {.name = std::move(component_), .handle = std::move(found.handle), .about = found.about});
  component_.clear();
  if (calls_->has_firmlinks()) leave_data_volume();
  return {};
}

// Security: /System/Volumes/Data/Users is /Users, and the kernel calls what lies in it by the short
// name whichever way it was reached (vn_getpath, bsd/vfs/vfs_cache.c in xnu). A rule about the long
// one would hold for nothing.
void PathWalk::leave_data_volume() {
  const std::size_t first = 1 + kDataVolume.size();  // the root is no name
  if (stack_.size() <= first) return;
  for (std::size_t i = 0; i < kDataVolume.size(); ++i) {
    if (law::name_key(stack_[i + 1].name) != kDataVolume.at(i)) return;
  }
  LookedUp short_way;
  for (std::size_t i = first; i < stack_.size(); ++i) {
    const int from = i == first ? stack_.front().handle.get() : short_way.handle.get();
    if (from < 0) return;
    LookedUp next = calls_->look_up(from, stack_[i].name, false);
    if (next.error != 0 || !S_ISDIR(next.about.st_mode)) return;
    short_way = std::move(next);
  }
  if (identity_of(short_way.about) != identity_of(stack_.back().about)) return;
  stack_.erase(std::next(stack_.begin()), stack_.begin() + static_cast<std::ptrdiff_t>(first));
}

WalkResult<void> PathWalk::meet_link(LookedUp link) {
  const bool last = pending_.empty() && !must_be_directory_;
  if (last && options_.leaf == LeafMode::kAsNamed) {
    land_on(std::move(link));
    return {};
  }
  if (options_.refuse_links || (last && options_.leaf == LeafMode::kRefuseLink)) {
    return failed(WalkFailure::kLinkRefused, ELOOP);
  }
  const Directory& here = stack_.back();
  const FileSystemKind kind = calls_->file_system(here.handle.get());
  if (const auto why = why_not_followed(link.about, here.about, kind)) {
    return failed(*why, *why == WalkFailure::kLinkUntrusted ? EACCES : ELOOP);
  }
  if (links_.size() == kMaxLinks) return failed(WalkFailure::kTooManyLinks, ELOOP);
  return follow(link);
}

WalkResult<void> PathWalk::follow(const LookedUp& link) {
  std::array<char, PATH_MAX> text;
  const ssize_t size =
      calls_->read_link(stack_.back().handle.get(), component_, link, text.data(), text.size());
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

void PathWalk::land_on(LookedUp found) {
  object_found_ = true;
  object_ = std::move(found.handle);
  object_status_ = found.about;
}

}  // namespace loom::guard
