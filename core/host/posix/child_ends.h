#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <optional>

namespace loom::host {

// The ends of our children, where no descriptor of a process says so: SIGCHLD writes a byte into a
// pipe of each child that is watched, of which somebody holds the reading end. So nobody who looks
// takes another's wake-up away. The first use takes SIGCHLD over for good, and unblocks it.

// A non-blocking descriptor that becomes readable whenever a child of ours may have ended; the
// caller's. To be had before the fork, with nobody's number; `name_watched_child` gives it one.
[[nodiscard]] Result<UniqueFd> watch_child_end();
void name_watched_child(int watch, pid_t child) noexcept;

// The child behind `watch`; nothing for a descriptor that is none, or whose child was reaped.
[[nodiscard]] std::optional<pid_t> watched_child(int watch) noexcept;
// Takes what woke the holder; a later end wakes it again.
void drain_child_watch(int watch) noexcept;
// Makes it readable again: its child has ended, and nobody has reaped it.
void rearm_child_watch(int watch) noexcept;
// The child was reaped: `watch` is readable from now on, and stands for nobody.
void end_child_watch(int watch) noexcept;

// In a process that was just forked and keeps no children: closes what is ours here.
void forget_child_watches() noexcept;

}  // namespace loom::host
