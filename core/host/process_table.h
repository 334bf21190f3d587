#pragma once

#include <loom/launch.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace loom::host {

// One line of /proc/<pid>/stat. The parent is the second word after the last ')': a program may
// call itself anything. Nothing for a text that is not such a line.
[[nodiscard]] std::optional<ProcessRow> parse_process_stat(std::string_view text);
// The state letter of the same line ('S', 'R', …), or 0.
[[nodiscard]] char process_state(std::string_view stat_text) noexcept;

// What the same line says of a process that has ended.
struct EndLine {
  int status = 0;         // as waitpid's
  bool is_known = false;  // the kernel says more than the 0 that it shows whoever may not trace
};

// Nothing while the process runs, and nothing of one that is being reaped: what is told then is how
// its main thread ended.
[[nodiscard]] std::optional<EndLine> parse_end_line(std::string_view stat_text) noexcept;

[[nodiscard]] std::optional<ProcessRow> read_process(std::int32_t pid);
[[nodiscard]] char read_process_state(std::int32_t pid);  // 0 when gone

// Every process of this pid namespace; rows that vanish meanwhile are skipped.
[[nodiscard]] Result<std::vector<ProcessRow>> read_process_table();
// Processes, zombies aside, of the session and process group that `leader` made for itself, and the
// leader too. Nothing of a group of that number that a later process made.
[[nodiscard]] Result<std::vector<ProcessRow>> read_group(const ProcessRow& leader);
// /proc/<pid>/task/<pid>/children; empty when the process is gone.
[[nodiscard]] Result<std::vector<std::int32_t>> read_children(std::int32_t pid);

// Which namespaces besides that of mounts are asked about.
struct NamespaceKinds {
  bool pids = false;
  bool network = false;
};

// Whether the process behind `pidfd`, which is `pid` and cannot end meanwhile, lives in our own
// mount namespace, or in one of ours of the kinds asked about. False where that cannot be seen.
[[nodiscard]] bool shares_namespaces(int pidfd, std::int32_t pid, NamespaceKinds kinds);

// A pidfd of exactly this process; nothing when it is gone, or its pid another's.
[[nodiscard]] UniqueFd open_process(const ProcessRow& row) noexcept;
// Sends `signal` to exactly this process: a pid that was reused meanwhile is left alone. Whether it
// was delivered; to a process that is gone it is not.
bool signal_process(const ProcessRow& row, int signal) noexcept;

}  // namespace loom::host
