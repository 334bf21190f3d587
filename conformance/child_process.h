#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace loom::conformance {

// How a child ended.
struct Ending {
  bool timed_out = false;                  // and was killed
  int status = 0;                          // as waitpid gives it
  [[nodiscard]] std::string text() const;  // "exit 3", "signal 6 (Aborted)", "no end in 60 s"
};

// Runs `act` in a forked child that ends with _exit(act()). The child leads a process group of its
// own. This and start_program are the only places that fork.
[[nodiscard]] Result<pid_t> fork_child(const std::function<int()>& act);

// What act() yields, computed in a process of its own, so that this one stays as it was.
[[nodiscard]] Result<Bytes> bytes_from_child(const std::function<Result<Bytes>()>& act,
                                             std::chrono::seconds patience);

// Waits for the end, and kills the group at the deadline.
[[nodiscard]] Ending await_end(pid_t child, std::chrono::milliseconds patience);

struct ProgramSpec {
  std::vector<std::string> argv{};  // argv[0] is the file
  std::vector<std::string> environment{};
  std::string directory = "/";
  std::vector<int> inherited{};  // stay open, under their own numbers
  int in = -1;                   // becomes 0, borrowed; -1: nothing to read
  int out = -1;
  int err = -1;
  int third = -1;  // becomes 3; -1: 3 is not open
};
[[nodiscard]] Result<pid_t> start_program(const ProgramSpec& spec);

// Whoever is a descendant of ours and lost its parent becomes our child from now on.
void adopt_orphans() noexcept;
// The children of this process, each as "pid name". Empty where there is no /proc.
[[nodiscard]] std::vector<std::pair<pid_t, std::string>> own_children();
// Kills and reaps all of them.
void end_children() noexcept;

// An empty memory file; everything in it.
[[nodiscard]] Result<UniqueFd> make_memory_file(const char* name);
[[nodiscard]] std::string read_whole(int fd);

}  // namespace loom::conformance
