#pragma once

#include <functional>

#include "host/windows/unique_handle.h"

namespace loom::windows {

// A thread whose work may block in ReadFile or WriteFile. Joined when it goes.
class BlockingThread {
 public:
  // `work` runs at once and returns soon after one of its calls was cancelled, once whoever ends
  // the thread has told it so. Stops the process when no thread can be had: nothing is decided
  // without.
  explicit BlockingThread(std::function<void()> work);
  BlockingThread(const BlockingThread&) = delete;
  BlockingThread& operator=(const BlockingThread&) = delete;
  ~BlockingThread();

  // Cancels the call in which the thread blocks, as often as it takes, until it has ended. Twice is
  // fine.
  void cancel_and_join();

 private:
  std::function<void()> work_;
  UniqueHandle thread_;
};

}  // namespace loom::windows
