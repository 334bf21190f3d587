#pragma once

#include <loom/unique_fd.h>

#include <string>
#include <vector>

namespace loom::bench {

// A program started by posix_spawn: the fastest ordinary way, and so the yardstick.
struct ChildProcess {
  int pid = -1;
  UniqueFd in;   // our end of its standard input; empty when it has none
  UniqueFd out;  // our end of its standard output; empty when it goes to /dev/null
};

struct LentFd {
  int fd = -1;
  int number = -1;  // in the child; no other one's fd
};

struct ChildRequest {
  std::vector<std::string> argv;  // argv[0] is an absolute path
  bool piped = false;             // standard input and output are pipes of ours
  std::vector<LentFd> lent{};
};

[[nodiscard]] ChildProcess start_child(const ChildRequest& request);
// Waits for the end; the exit status, or 128 + signal.
int wait_for(const ChildProcess& child);

}  // namespace loom::bench
