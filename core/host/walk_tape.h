#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guard/file_system.h"
#include "guard/freeze.h"

namespace loom::host {

// What one walk asked of the file system, and what it was told. Whoever would walk there again asks
// the same once more instead: told the same, they know what the walk found. Asking is the smaller
// part of a walk; the larger one is to make facts of the answers.
//
// Compared is everything that a walk judges by, but not how many directories a directory holds,
// which is nothing to a jail. Holds nothing open meanwhile: that would keep a file system from
// being unmounted. Nor more than about kMaxBytes: a longer walk is made again.
class WalkTape {
 public:
  static constexpr std::size_t kMaxBytes = 2u << 20;

  // Of which of the directories that a walk has open at the same time.
  enum class Slot : std::uint8_t { kAsked, kTargets, kAbove };

  // guard::open_without_links(path, O_DIRECTORY) put this directory there, or said `error`.
  void entered(Slot slot, const AbsolutePath& path, const struct stat& about);
  void not_entered(Slot slot, const AbsolutePath& path, int error);
  // A look at a name in the directory there, guard::kLookOnly, or errno.
  void looked(Slot slot, std::string_view name, const struct stat& about);
  void not_looked(Slot slot, std::string_view name, int error);
  // As link_text.
  void told_link(Slot slot, std::string_view name, std::string_view text);
  // On what the directory there lies, or what a name in it denotes.
  void told_kind(Slot slot, guard::FileSystemKind kind);
  void told_kind_of(Slot slot, std::string_view name, guard::FileSystemKind kind);
  // guard::freeze(path), which asks a great deal.
  void froze(const AbsolutePath& path, const guard::Frozen& frozen);
  // Something was asked that is not kept here: from now on nothing holds.
  void spoil() noexcept;

  // False: nobody needs to keep it.
  [[nodiscard]] bool may_hold() const noexcept { return !asked_.empty(); }
  // Whether the answers are the same now. Nothing was asked yet: false.
  [[nodiscard]] bool still_holds() const;

 private:
  enum class Question : std::uint8_t { kEnter, kLook, kLinkText, kKind, kKindOf, kFreeze };
  struct Seen {
    FileIdentity identity{};
    std::uint64_t links = 0;   // of a directory: 0
    std::uint64_t number = 0;  // of a device file
    std::uint32_t mode = 0;
    std::uint32_t owner = 0;
    std::uint32_t group = 0;

    bool operator==(const Seen&) const = default;
  };
  struct Asked {
    Question question;
    Slot slot;
    AbsolutePath path = AbsolutePath::root();  // of kEnter and kFreeze; the others have a name
    std::string name{};
    std::string text{};
    Seen seen{};
    guard::FileSystemKind kind = guard::FileSystemKind::kUnknown;
    int error = 0;
    std::shared_ptr<const guard::Frozen> frozen{};
  };
  class Replay;

  [[nodiscard]] static Seen seen_in(const struct stat& about) noexcept;
  void add(Asked asked);

  std::vector<Asked> asked_;
  std::size_t bytes_ = 0;
  bool spoiled_ = false;  // and then empty
};

// The text of a link named in `parent`; empty when it cannot be read.
[[nodiscard]] std::string link_text(int parent, const char* name);

}  // namespace loom::host
