#include "guard/stored_lookup.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "law/name_key.h"

namespace loom::guard {
namespace {

constexpr int kTries = 3;

// firmlinks(5) and the links of every macOS since 10.0.
constexpr std::array<std::string_view, 3> kInPrivate = {"tmp", "var", "etc"};

LookedUp failed(int error) { return LookedUp{.error = error}; }

bool is_same(const struct stat& a, const struct stat& b) noexcept {
  return identity_of(a) == identity_of(b) && (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT);
}

}  // namespace

LookedUp StoredLookup::root() const {
  LookedUp found{.handle = UniqueFd(uninterrupted([&] { return calls_->open_root(); }))};
  if (!found.handle || calls_->status(found.handle.get(), found.about) != 0) return failed(errno);
  return found;
}

LookedUp StoredLookup::look_up(int directory, const std::string& name,
                               bool /*enter_automounts*/) const {
  for (int tries = 0; tries < kTries; ++tries) {
    auto found = try_look_up(directory, name);
    if (!found) continue;
    if (found->error == 0) found->stored = spelling(directory, name);
    return *std::move(found);
  }
  return failed(EAGAIN);
}

// Nothing when the name became another object between two looks at it.
std::optional<LookedUp> StoredLookup::try_look_up(int directory, const std::string& name) const {
  LookedUp found{.handle = UniqueFd(uninterrupted(
                     [&] { return calls_->open(directory, name.c_str(), OpenAs::kDirectory); }))};
  if (found.handle) {
    if (calls_->status(found.handle.get(), found.about) != 0) return failed(errno);
    return found;
  }
  const int error = errno;
  if (error != ELOOP && error != ENOTDIR && error != EACCES) return failed(error);
  struct stat about {};
  if (calls_->status_of(directory, name.c_str(), about) != 0) {
    // For want of searching this directory; or it was there a moment ago.
    return errno == EACCES || errno == EPERM ? std::optional(failed(errno)) : std::nullopt;
  }
  if (error == EACCES && S_ISDIR(about.st_mode)) return LookedUp{.about = about};
  return hold(directory, name, about);
}

// A handle of what the name was a moment ago, where there is one that does nothing to it.
std::optional<LookedUp> StoredLookup::hold(int directory, const std::string& name,
                                           const struct stat& about) const {
  const auto open_as = [&](OpenAs how) {
    return UniqueFd(uninterrupted([&] { return calls_->open(directory, name.c_str(), how); }));
  };
  if (S_ISDIR(about.st_mode)) return std::nullopt;
  LookedUp found{.about = about};
  if (!S_ISLNK(about.st_mode) && !S_ISREG(about.st_mode)) return found;
  found.handle = open_as(S_ISLNK(about.st_mode) ? OpenAs::kLink : OpenAs::kFile);
  if (!found.handle && errno == EACCES && S_ISREG(about.st_mode)) {
    found.handle = open_as(OpenAs::kProgram);
    if (!found.handle && errno == EACCES) return found;
  }
  if (!found.handle) {
    const bool another = errno == ENOENT || errno == ELOOP || errno == ENOTDIR || errno == ENXIO;
    return another ? std::nullopt : std::optional(failed(errno));
  }
  struct stat opened {};
  if (calls_->status(found.handle.get(), opened) != 0) return failed(errno);
  if (!is_same(opened, about)) return std::nullopt;
  found.about = opened;
  return found;
}

// The name attribute, where it is this name in another spelling. The root of a volume has the
// volume's name there, and a file may have that of another hard link.
std::string StoredLookup::spelling(int directory, const std::string& name) const {
  std::optional<std::string> stored = calls_->stored_name(directory, name.c_str());
  const bool ours = stored && law::name_key(*stored) == law::name_key(name);
  return ours ? *std::move(stored) : std::string();
}

// By name, since no call reads a link through its handle before macOS 13. Whoever could exchange
// the name twice meanwhile could as well have had the walk meet the other link.
ssize_t StoredLookup::read_link(int directory, const std::string& name, const LookedUp& link,
                                char* text, std::size_t size) const {
  const ssize_t got = calls_->read_link(directory, name.c_str(), text, size);
  if (got < 0) return got;
  struct stat now {};
  if (calls_->status_of(directory, name.c_str(), now) == 0 && is_same(now, link.about)) return got;
  errno = EAGAIN;
  return -1;
}

std::string StoredLookup::name_in_root(const std::string& name) const {
  const std::string key = law::name_key(name);
  const bool moved = std::find(kInPrivate.begin(), kInPrivate.end(), key) != kInPrivate.end();
  return moved ? "private/" + key : name;
}

}  // namespace loom::guard
