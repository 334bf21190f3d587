#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::host {

// Patience of whoever removes a scratch, in all.
inline constexpr std::chrono::seconds kScratchRemovalLimit{10};

// The removal of a private scratch with what is in it, in pieces: a command may leave more than can
// be removed while others wait. Security: follows no link, neither at the directory nor below it,
// enters no other file system, and leaves a directory alone that belongs to somebody else. Depth
// and number of what a command left there cost neither memory nor descriptors.
class ScratchRemoval {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ScratchRemoval(AbsolutePath directory) : path_(std::move(directory)) {}

  // Goes on until `until`, and a little beyond; less long where only time can help. True when there
  // is nothing more to do: it is gone, or what is left cannot be removed.
  [[nodiscard]] bool go_on(Clock::time_point until);
  // What was not removed and why, with the directory's name: usually nothing. Before go_on was
  // true: `unfinished`, and what hindered it last.
  [[nodiscard]] std::vector<std::string> problems(
      std::string_view unfinished = "it takes too long") const;

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  void open();
  bool remove_some(Clock::time_point until);
  void remove_itself();
  void done(std::string why = {});
  void note_errno();

  AbsolutePath path_;
  State state_ = State::kNew;
  UniqueFd holder_{};  // of its parent
  UniqueFd top_{};
  std::uint64_t device_ = 0;
  std::uint64_t moved_ = 0;  // how many names were given to what came out of directories in it
  // What a look at it found and was not tried yet: a look takes longer than the least of pieces.
  std::vector<std::string> names_{};
  bool any_ = false;                // since that look, something was removed
  bool lacks_descriptors_ = false;  // and something could not be opened for want of one
  std::string why_{};               // of what is left; once done, empty: nothing is
};

// A directory of the host that belongs to one run: fresh, empty, of mode 0700 and ours, under a
// name that nobody could guess. Whoever owns this removes the directory with everything in it when
// it is destroyed.
class PrivateScratch {
 public:
  // Makes PARENT/PREFIX and 32 random hex digits. `parent` is a real path; it must be a directory
  // (no link) of root's with the sticky bit where others may write, or of ours with no write for
  // others: anybody else could exchange the directory under our hands. kDenied otherwise, kSystem
  // when the kernel refuses.
  //
  // `announce` gets the path before anything is there, and can refuse: whoever is to remove the
  // directory when this process is killed (MadeNames::guard_scratch) must know of it in time.
  using Announce = std::function<Result<void>(const AbsolutePath&)>;
  [[nodiscard]] static Result<PrivateScratch> make(const AbsolutePath& parent,
                                                   std::string_view prefix,
                                                   const Announce& announce = {});
  PrivateScratch(PrivateScratch&& other) noexcept;
  PrivateScratch& operator=(PrivateScratch&& other) noexcept;
  PrivateScratch(const PrivateScratch&) = delete;
  PrivateScratch& operator=(const PrivateScratch&) = delete;
  ~PrivateScratch();

  [[nodiscard]] const AbsolutePath& path() const noexcept { return path_; }

  // Removes it now, once: the destructor then does nothing. What could not be removed and why,
  // usually nothing. The run's processes must have ended, or they may fill it again.
  [[nodiscard]] std::vector<std::string> remove();
  // Whoever takes this removes it instead, piece by piece. Only for the owner.
  [[nodiscard]] ScratchRemoval hand_over();

 private:
  explicit PrivateScratch(AbsolutePath path) : path_(std::move(path)) {}
  AbsolutePath path_;
  bool ours_ = true;  // false: moved from, or removed
};

// Removes `directory` as ScratchRemoval does, at a stretch, for kScratchRemovalLimit at most. Says
// what could not be removed; nothing to do is no problem.
[[nodiscard]] std::vector<std::string> remove_private_scratch(const AbsolutePath& directory);

}  // namespace loom::host
