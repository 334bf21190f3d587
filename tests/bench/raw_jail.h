#pragma once

#include <loom/launch.h>
#include <loom/unique_fd.h>

#include <vector>

#include "tests/bench/child_process.h"
#include "tests/bench/setup.h"

namespace loom::bench {

// bubblewrap alone, with the very options that the helper would give it for the setup's policy.
class RawJail {
 public:
  explicit RawJail(const Setup& setup);
  RawJail(const RawJail&) = delete;
  RawJail& operator=(const RawJail&) = delete;

  // /usr/bin/true in such a jail, from start to end.
  void run() const;

 private:
  LaunchSpec launch_;
  std::vector<LentFd> lent_;
  std::vector<UniqueFd> sources_;
  const MemoryFile* options_ = nullptr;
};

}  // namespace loom::bench
