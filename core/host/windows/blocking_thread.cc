#include "host/windows/blocking_thread.h"

#include <loom/check.h>
#include <process.h>

#include <utility>

namespace loom::windows {
namespace {

constexpr DWORD kAgainAfterMs = 2;

unsigned __stdcall run(void* work) {
  (*static_cast<std::function<void()>*>(work))();
  return 0;
}

}  // namespace

BlockingThread::BlockingThread(std::function<void()> work) : work_(std::move(work)) {
  // The C runtime's own call, so that its state for the thread is made and freed.
  thread_ = UniqueHandle(
      reinterpret_cast<HANDLE>(::_beginthreadex(nullptr, 0, &run, &work_, 0, nullptr)));
  LOOM_CHECK(static_cast<bool>(thread_));
}

BlockingThread::~BlockingThread() { cancel_and_join(); }

void BlockingThread::cancel_and_join() {
  if (!thread_) return;
  // The thread may be just in front of its call, where there is nothing to cancel yet.
  do {
    ::CancelSynchronousIo(thread_.get());
  } while (::WaitForSingleObject(thread_.get(), kAgainAfterMs) == WAIT_TIMEOUT);
  thread_.reset();
}

}  // namespace loom::windows
