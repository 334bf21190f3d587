// Forks a process while it probes.
#include <unistd.h>

#include "liar.h"

namespace loom::liars {

class Forks final : public Honest {
 public:
  using Honest::Honest;

  Result<Bytes> probe(const ProbeRequest& request) override {
    if (::fork() == 0) {
      for (int fd = 0; fd < 256; ++fd) ::close(fd);
      ::sleep(120);
      ::_exit(0);
    }
    return inner_.probe(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::Forks, forks);
