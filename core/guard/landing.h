#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/path_walk.h"
#include "guard/walk_error.h"

namespace loom::guard {

enum class ObjectKind : std::uint8_t {
  kAbsent,
  kDirectory,
  kRegular,
  kLink,  // kAsNamed only
  kFifo,
  kSocket,
  kCharacterDevice,
  kBlockDevice,
};

enum class WriteMode : std::uint8_t { kKeep, kTruncate, kAppend };
enum class RenameMode : std::uint8_t { kKeepTarget, kReplaceTarget };

// Where a walk ended: handles to what was there then, and the effects on it.
//
// What is judged is this value, and an effect happens to what was judged or not at all: each one is
// relative to the handles and compares the object once more. Where another object has the name by
// then, the last step is tried again, 3 times in all, and then it is kRaced; no effect has
// happened. Owns its handles. An effect never waits for a FIFO, a socket or a device.
class Landing {
 public:
  // Whether the object that has the name now may stand for the one that was judged. Told about by
  // judge_again; without one, only the judged object will do.
  using Judge = std::function<bool(const Landing&)>;

  // For walk.h: from a walk that landed.
  [[nodiscard]] static WalkResult<Landing> make(std::string_view written, PathWalk walk);

  [[nodiscard]] ObjectKind kind() const noexcept { return kind_; }
  [[nodiscard]] bool exists() const noexcept { return kind_ != ObjectKind::kAbsent; }
  // Zero where the landing is absent.
  [[nodiscard]] FileIdentity identity() const noexcept;
  [[nodiscard]] std::uint64_t link_count() const noexcept { return status_.st_nlink; }
  // Holds no link that was followed.
  [[nodiscard]] const AbsolutePath& real() const noexcept { return real_; }
  // Its last component; empty for the root.
  [[nodiscard]] const std::string& leaf() const noexcept { return leaf_; }
  // Handles that nothing is read through (O_PATH), lent; -1 for the object of an absent landing,
  // for the root's parent, and where the system gives none (LookedUp::handle).
  [[nodiscard]] int object() const noexcept { return object_.get(); }
  [[nodiscard]] int parent() const noexcept { return parent_.get(); }
  // Every directory that was walked through, the root first; the object too if it is one.
  [[nodiscard]] const std::vector<FileIdentity>& passed() const noexcept { return passed_; }
  // Those that were followed, in order.
  [[nodiscard]] const std::vector<LinkFact>& links() const noexcept { return links_; }
  // The path as asked ends in "/" or "/.".
  [[nodiscard]] bool must_be_directory() const noexcept { return must_be_directory_; }

  void judge_again(Judge judge) { judge_ = std::move(judge); }

  // A regular file, or /dev/null where just that was asked for; blocking from then on.
  [[nodiscard]] WalkResult<UniqueFd> read();
  [[nodiscard]] WalkResult<UniqueFd> write(WriteMode mode);
  // A handle for listing.
  [[nodiscard]] WalkResult<UniqueFd> list() const;
  // The landing must be absent. `mode` as for open(2), so the umask counts. kRaced when something
  // is there by now, kMissing when the directory is gone.
  [[nodiscard]] WalkResult<UniqueFd> create(mode_t mode);
  // As create; gives a handle that nothing is read through.
  [[nodiscard]] WalkResult<UniqueFd> mkdir(mode_t mode);
  // A link is removed, not followed, if the landing is one.
  [[nodiscard]] WalkResult<void> remove();
  [[nodiscard]] WalkResult<struct stat> status() const;
  // An own handle of that kind to a directory, a regular file or a socket.
  [[nodiscard]] WalkResult<UniqueFd> mount_source() const;

  // Both walked kAsNamed. kKeepTarget: kSystem with EEXIST when something is at the target, kRaced
  // when it was not there when that was judged.
  [[nodiscard]] static WalkResult<void> rename(Landing& from, Landing& to, RenameMode mode);

 private:
  explicit Landing(AbsolutePath real) : real_(std::move(real)) {}

  [[nodiscard]] tl::unexpected<WalkError> failed(WalkFailure reason, int sys_errno = 0) const;
  [[nodiscard]] tl::unexpected<WalkError> effect_failed(int error) const;
  [[nodiscard]] WalkResult<void> require_parent() const;
  [[nodiscard]] WalkResult<void> require_absent() const;
  [[nodiscard]] WalkResult<void> require_file() const;
  [[nodiscard]] bool is_null_device() const noexcept;
  [[nodiscard]] WalkResult<UniqueFd> open_leaf(int flags);
  [[nodiscard]] WalkResult<void> require_same_object();
  [[nodiscard]] bool is_same(const struct stat& about) const noexcept;
  void look_again();

  AbsolutePath real_;
  std::string leaf_;
  ObjectKind kind_ = ObjectKind::kAbsent;
  UniqueFd parent_;
  UniqueFd object_;
  struct stat status_ {};  // of the object as it was judged
  std::vector<FileIdentity> passed_;
  std::vector<LinkFact> links_;
  bool must_be_directory_ = false;
  bool wants_null_device_ = false;
  Judge judge_;
};

}  // namespace loom::guard
