#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <chrono>
#include <utility>

namespace loom::app {

// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a readable descriptor, so that an interrupted self-test
// still removes what it made. Signals that the caller had ignored stay ignored.
class StopSignals {
 public:
  [[nodiscard]] static Result<StopSignals> open();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // Whether one has come, now or earlier.
  [[nodiscard]] bool came();
  // Sleeps; a signal ends it early.
  void pause(std::chrono::milliseconds time);

 private:
  explicit StopSignals(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  bool came_ = false;
};

}  // namespace loom::app
