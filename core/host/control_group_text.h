#pragma once

#include <loom/launch.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom::host {

// The texts of the control-group file system (Documentation/admin-guide/cgroup-v2.rst). Pure.

// The process's own group of the second version, from /proc/<pid>/cgroup: the path of the "0::"
// line, "" for the root group. Nothing where there is no such line (version 1 only).
[[nodiscard]] std::optional<std::string> own_control_group(std::string_view proc_cgroup);

// Which of "memory" and "pids", in this order, a controller list ("cpu io memory") lacks. A leading
// '+' of a name is ignored.
[[nodiscard]] std::vector<std::string> missing_controllers(std::string_view list);

// The deepest directory that is `a`, `b` or above both; "/" at the least. Absolute paths in normal
// form.
[[nodiscard]] std::string common_ancestor(std::string_view a, std::string_view b);

// The process in the name of a run's group ("exec-<id>-<pid>"), or nothing when the name is
// another.
[[nodiscard]] std::optional<pid_t> process_of_group_name(std::string_view name);

// The number behind `key` in a flat keyed file ("populated 0\nfrozen 0\n").
[[nodiscard]] std::optional<std::uint64_t> keyed_number(std::string_view text,
                                                        std::string_view key);

// The only number in a file of one value; nothing for "max" and for anything else.
[[nodiscard]] std::optional<std::uint64_t> single_number(std::string_view text);

// cgroup.procs: how many processes it lists, and whether `process` is one of them.
[[nodiscard]] std::size_t count_processes(std::string_view procs);
[[nodiscard]] bool lists_process(std::string_view procs, pid_t process);

// Processes were killed for want of memory *because this group met its ceiling*: memory.events
// counts a kill by the machine's own shortage, or by a group above, under oom_kill as well, but
// only a ceiling of the group itself, or of one below, under oom.
[[nodiscard]] std::optional<std::uint64_t> kills_at_own_ceiling(std::string_view memory_events);

// The most processes and threads the kernel can number, and the largest pids.max it takes:
// PID_MAX_LIMIT of include/linux/threads.h, on 64 bits.
inline constexpr std::uint64_t kMostProcesses = 4'194'304;

// A text for one file of a group.
struct ControlFileText {
  std::string file;
  std::string text;
  bool required = true;  // a kernel without the file has nothing to switch off
  friend bool operator==(const ControlFileText&, const ControlFileText&) = default;
};

// What sets these ceilings, in the order of writing. Memory that is full is not swapped out instead
// (memory.swap.max; absent where the kernel or the boot parameter swapaccount=0 leaves it out). A
// ceiling above what the kernel can count can never be met, and is "max", which it takes.
[[nodiscard]] std::vector<ControlFileText> ceiling_texts(const Ceilings& ceilings);

}  // namespace loom::host
