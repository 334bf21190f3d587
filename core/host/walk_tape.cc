#include "host/walk_tape.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "guard/open_without_links.h"

namespace loom::host {
namespace {

// Of the directories above its links no fact tells.
guard::Frozen without_the_rest(guard::Frozen frozen) {
  if (frozen.fact.kind == PathKind::kDirectory) frozen.fact.link_count = 0;
  frozen.link_directories.clear();
  return frozen;
}

// About.
std::size_t bytes_of(const guard::Frozen& frozen) {
  std::size_t bytes = sizeof frozen;
  for (const LinkFact& link : frozen.fact.links) {
    bytes += sizeof link + link.place.str().size() + link.target.size();
  }
  for (const DirectoryFact& directory : frozen.directories) {
    bytes += sizeof directory + directory.path.str().size();
  }
  return bytes;
}

}  // namespace

// Asks once more, in the order of the tape, with directories of its own.
class WalkTape::Replay {
 public:
  [[nodiscard]] bool is_told_the_same(const Asked& asked) {
    UniqueFd& directory = open_[static_cast<std::size_t>(asked.slot)];
    switch (asked.question) {
      case Question::kEnter:
        return enters_the_same(asked, directory);
      case Question::kLook:
        return looks_the_same(asked, directory.get());
      case Question::kLinkText:
        return link_text(directory.get(), asked.name.c_str()) == asked.text;
      case Question::kKind:
        return guard::file_system_of(directory.get()) == asked.kind;
      case Question::kKindOf: {
        const UniqueFd handle = guard::open_handle(directory.get(), asked.name.c_str());
        return handle && guard::file_system_of(handle.get()) == asked.kind;
      }
      case Question::kFreeze:
        return without_the_rest(guard::freeze(asked.path)) == *asked.frozen;
    }
    return false;
  }

 private:
  [[nodiscard]] static bool enters_the_same(const Asked& asked, UniqueFd& directory) {
    guard::Opened opened = guard::open_without_links(asked.path, O_DIRECTORY);
    directory = std::move(opened.handle);
    if (!directory) return opened.error == asked.error;
    struct stat about {};
    return asked.error == 0 && ::fstat(directory.get(), &about) == 0 &&
           seen_in(about) == asked.seen;
  }

  [[nodiscard]] static bool looks_the_same(const Asked& asked, int directory) {
    struct stat about {};
    if (::fstatat(directory, asked.name.c_str(), &about, guard::kLookOnly) != 0) {
      return errno == asked.error;
    }
    return asked.error == 0 && seen_in(about) == asked.seen;
  }

  std::array<UniqueFd, 3> open_;
};

WalkTape::Seen WalkTape::seen_in(const struct stat& about) noexcept {
  return {.identity = guard::identity_of(about),
          .links = S_ISDIR(about.st_mode) ? 0 : static_cast<std::uint64_t>(about.st_nlink),
          .number = static_cast<std::uint64_t>(about.st_rdev),
          .mode = about.st_mode,
          .owner = about.st_uid,
          .group = about.st_gid};
}

void WalkTape::entered(Slot slot, const AbsolutePath& path, const struct stat& about) {
  add({.question = Question::kEnter, .slot = slot, .path = path, .seen = seen_in(about)});
}

void WalkTape::not_entered(Slot slot, const AbsolutePath& path, int error) {
  add({.question = Question::kEnter, .slot = slot, .path = path, .error = error});
}

void WalkTape::looked(Slot slot, std::string_view name, const struct stat& about) {
  add({.question = Question::kLook,
       .slot = slot,
       .name = std::string(name),
       .seen = seen_in(about)});
}

void WalkTape::not_looked(Slot slot, std::string_view name, int error) {
  add({.question = Question::kLook, .slot = slot, .name = std::string(name), .error = error});
}

void WalkTape::told_link(Slot slot, std::string_view name, std::string_view text) {
  add({.question = Question::kLinkText,
       .slot = slot,
       .name = std::string(name),
       .text = std::string(text)});
}

void WalkTape::told_kind(Slot slot, guard::FileSystemKind kind) {
  add({.question = Question::kKind, .slot = slot, .kind = kind});
}

void WalkTape::told_kind_of(Slot slot, std::string_view name, guard::FileSystemKind kind) {
  add({.question = Question::kKindOf, .slot = slot, .name = std::string(name), .kind = kind});
}

void WalkTape::froze(const AbsolutePath& path, const guard::Frozen& frozen) {
  add({.question = Question::kFreeze,
       .slot = Slot::kAsked,
       .path = path,
       .frozen = std::make_shared<const guard::Frozen>(without_the_rest(frozen))});
}

void WalkTape::add(Asked asked) {
  if (spoiled_) return;
  bytes_ += sizeof asked + asked.path.str().size() + asked.name.size() + asked.text.size();
  if (asked.frozen) bytes_ += bytes_of(*asked.frozen);
  if (bytes_ > kMaxBytes) return spoil();
  asked_.push_back(std::move(asked));
}

void WalkTape::spoil() noexcept {
  spoiled_ = true;
  std::vector<Asked>().swap(asked_);
}

bool WalkTape::still_holds() const {
  if (asked_.empty()) return false;
  Replay replay;
  return std::all_of(asked_.begin(), asked_.end(),
                     [&replay](const Asked& asked) { return replay.is_told_the_same(asked); });
}

std::string link_text(int parent, const char* name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlinkat(parent, name, text.data(), text.size());
  return size <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace loom::host
