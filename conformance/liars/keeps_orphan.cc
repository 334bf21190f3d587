// Leaves a process of its own behind.
#include <unistd.h>

#include "liar.h"

namespace loom::liars {

class KeepsOrphan final : public Honest {
 public:
  using Honest::Honest;

  Result<StartResult> start(const LaunchSpec& launch) override {
    LOOM_TRY(StartResult result, inner_.start(launch));
    if (::fork() == 0) {
      ::setsid();
      for (int fd = 0; fd < 256; ++fd) ::close(fd);
      ::sleep(120);
      ::_exit(0);
    }
    return result;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::KeepsOrphan, keeps_orphan);
