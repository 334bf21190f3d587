#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <vector>

namespace loom::host {

// What a child gets from this process at the fork and keeps: control groups, resource limits,
// processors, priority, scheduler, priority of its input and output, how soon it is ended when
// memory is short. Anybody may change that from outside, and a child that was forked before would
// not have it. And how the machine dumps cores, which stage 2 looks at once. Empty where no jail
// waits.
class InheritedState {
 public:
  [[nodiscard]] static Result<InheritedState> open();

  // For comparison only. The kernel's files stay open between two readings: opening them is most of
  // the work.
  [[nodiscard]] Result<Bytes> now() const;

 private:
  std::vector<UniqueFd> files_;
};

}  // namespace loom::host
