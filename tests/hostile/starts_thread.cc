// Starts a thread that stays, as soon as an instance is made.

#include <loom/export_backend.h>

#include <atomic>
#include <thread>

#include "idle_backend.h"

namespace {

class StartsThread final : public loom::test::IdleBackend {
 public:
  explicit StartsThread(loom::HostServices& host)
      : IdleBackend(host), thread_([this] { over_.wait(false); }) {}
  ~StartsThread() override {
    over_ = true;
    over_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace

LOOM_EXPORT_BACKEND(StartsThread, "starts_thread", "1");
