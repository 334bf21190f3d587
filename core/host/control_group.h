#pragma once

#include <loom/launch.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/event_loop.h"

namespace loom::host {

// What a run used of its ceilings and where it met them; nothing where the kernel does not say
// (memory.peak: 5.19).
struct ControlGroupUse {
  std::optional<std::uint64_t> peak_memory_bytes;
  // Processes killed because the run met its memory ceiling. A kill for want of memory elsewhere is
  // not one of them.
  std::optional<std::uint64_t> out_of_memory_kills;
  // Processes and threads refused: by the run's own ceiling, and before kernel 6.11 also by one of
  // a group above.
  std::optional<std::uint64_t> denied_forks;
};

// One run's group below a base, with its ceilings. Owns the directory: whoever drops it without
// removing it leaves it to the next helper's sweep.
//
// Holds a handle of the directory, so that a group that somebody removed and another run made again
// under the same name is never taken for this one.
class ControlGroup {
 public:
  // BASE/exec-<id>-<child>, its ceilings written; switches the base's controllers on where ceilings
  // are asked for and they are not on. On failure nothing is left behind; the error names the file.
  // `base` as detect_control_group_base gave it.
  //
  // A directory of that name that is there already holds the counts of another run: an empty one is
  // replaced, one with a process in it is an error.
  [[nodiscard]] static Result<ControlGroup> make(const std::string& base, std::uint64_t id,
                                                 pid_t child, const Ceilings& ceilings);

  // Moves `child` in, and looks whether it is in: what the report claims rests on the kernel's
  // list.
  [[nodiscard]] Result<void> enter(pid_t child);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] ControlGroupUse use() const;
  // SIGKILL to everything in it, where the kernel can (cgroup.kill: 5.14); best effort.
  void kill_all() noexcept;

  // Removes the group and what lies below it, innermost first; never a file. True when it is gone,
  // also when it was before; false while a process is in it or not yet out of it.
  [[nodiscard]] Result<bool> try_remove();

 private:
  ControlGroup(std::string path, UniqueFd base, UniqueFd directory)
      : path_(std::move(path)), base_(std::move(base)), directory_(std::move(directory)) {}
  [[nodiscard]] Result<void> limit(const Ceilings& ceilings);

  std::string path_;
  UniqueFd base_;
  UniqueFd directory_;
};

// Makes the group and moves `child` in; on failure nothing is left behind. Between the two the
// group is empty, and a helper of another pid namespace, to which `child` is nobody, may sweep it:
// then both are done again, `kEntryTries` times at most.
inline constexpr int kEntryTries = 5;
[[nodiscard]] Result<ControlGroup> make_and_enter(const std::string& base, std::uint64_t id,
                                                  pid_t child, const Ceilings& ceilings);

// Groups whose runs have ended, until each is empty and removed, or `kPatience` has passed. A
// process of the jail may outlive the answer by some 50 ms, and a populated group stays.
//
// Never blocks. What is left when patience ends, or when the last try of the destructor fails, is
// the next sweep's.
class ControlGroupRemovals {
 public:
  static constexpr std::chrono::milliseconds kPatience{2'000};
  // Between tries that no event of the kernel caused.
  static constexpr std::chrono::milliseconds kPause{50};

  // `loop` is borrowed and outlives this.
  explicit ControlGroupRemovals(EventLoop& loop);
  ControlGroupRemovals(const ControlGroupRemovals&) = delete;
  ControlGroupRemovals& operator=(const ControlGroupRemovals&) = delete;
  ControlGroupRemovals(ControlGroupRemovals&&) = delete;
  ControlGroupRemovals& operator=(ControlGroupRemovals&&) = delete;
  ~ControlGroupRemovals();

  void add(ControlGroup group);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

 private:
  struct Waiting;
  void retry(std::uint64_t key);
  void retry_later(std::uint64_t key);
  void stop_waiting(std::uint64_t key);

  EventLoop& loop_;
  std::uint64_t next_key_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Waiting>> waiting_;
};

}  // namespace loom::host
