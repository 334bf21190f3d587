#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "host/syscalls.h"

namespace loom::host {

// A name that must be on the host while a run lasts (D12).
struct WantedName {
  AbsolutePath path;  // real
  bool intermediate = false;
  FileIdentity parent{};  // of the directory that holds it; zero: that is one of the names before
};

// Placeholders that stand where a run needs a name to mask: made, or found from another run and
// adopted. A shared lock (flock(2)) on each keeps every other helper from removing it; the locks
// end with this object, or with the process.
class HeldNames {
 public:
  // All of them or none: what was made before a failure is removed again, unless somebody else has
  // locked it meanwhile, and what was adopted is let go. Waits, a second in all at most, for
  // helpers that are just removing one of them.
  //
  // Fails with kDenied when a name is not as the plan saw it, or became something else meanwhile:
  // look again. Fails with kSystem, naming path and step, when the kernel refuses. `creation_mask`
  // is for remove; the process's own must leave the owner the right to read.
  [[nodiscard]] static Result<HeldNames> take(const std::vector<WantedName>& wanted,
                                              mode_t creation_mask,
                                              const Syscalls& syscalls = real_syscalls());

  // In the order asked for.
  [[nodiscard]] std::vector<FileIdentity> identities() const;

  enum class Attempt { kMoreFollow, kLast };

  // Lets go, and removes, innermost first, every placeholder that nobody else holds, that still has
  // its name and that is empty. A directory that is not, because somebody put something into it, is
  // no placeholder any more: it stays, with the mode that mkdir(1) would have given it under
  // creation_mask. Security: nothing is removed but what take returned, whatever other directories
  // look like by then. A command that took our right to the directory above away does not keep us
  // from it where that is our user's. Says what could not be removed, and why; usually nothing.
  //
  // What somebody else has locked waits, with everything above it and without a lock of ours, for
  // another call: the kernel may close what a command left in transit a moment after its end. Where
  // it is another run that holds it, that run removes it, and the next call finds it gone. A last
  // attempt leaves what is still locked, which is only right because somebody holds it then.
  [[nodiscard]] std::vector<std::string> remove(Attempt attempt = Attempt::kMoreFollow);

  // After a first attempt: whether anything waits for another.
  [[nodiscard]] bool is_waiting() const noexcept { return !held_.empty(); }
  // Whether one that waits is a directory on the way, and empty: then it leads to no name of
  // another run, and the lock is hardly a run's, unless the directory is what that run protects.
  [[nodiscard]] bool waits_without_need() const;
  // Leaves those that wait to a run that holds them as well.
  void leave_to(const std::vector<FileIdentity>& holder);

 private:
  friend class NameTaker;
  using Handle = std::shared_ptr<const UniqueFd>;
  struct Held {
    AbsolutePath path;
    FileIdentity identity;
    bool made;  // by us; else adopted
    bool intermediate;
    Handle parent;     // of the directory that holds the name
    Handle directory;  // the placeholder itself, readable: carries the lock
  };
  HeldNames(mode_t creation_mask, const Syscalls& syscalls)
      : creation_mask_(creation_mask), syscalls_(&syscalls) {}
  [[nodiscard]] bool has_waiting_below(const AbsolutePath& path) const;
  // False when somebody else has it locked.
  [[nodiscard]] bool remove_one(const Held& held, std::vector<std::string>& problems) const;
  void leave_as_ordinary(const Held& held) const;
  void give_back();

  mode_t creation_mask_;
  const Syscalls* syscalls_;
  std::vector<Held> held_;  // those above a name come before it
};

}  // namespace loom::host
