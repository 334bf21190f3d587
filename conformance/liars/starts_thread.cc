// Starts a thread that stays.
#include <chrono>
#include <thread>

#include "liar.h"

namespace loom::liars {

class StartsThread final : public Honest {
 public:
  explicit StartsThread(HostServices& host)
      : Honest(host), thread_([] { std::this_thread::sleep_for(std::chrono::hours(1)); }) {
    thread_.detach();
  }

 private:
  std::thread thread_;
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::StartsThread, starts_thread);
