// Writes to standard output from a verb.

#include <loom/export_backend.h>

#include <cstdio>

#include "idle_backend.h"

namespace {

class Prints final : public loom::test::IdleBackend {
 public:
  using IdleBackend::IdleBackend;

  loom::Result<loom::Pieces> pieces() const override {
    std::puts("hello");
    std::fflush(stdout);
    return loom::Pieces{};
  }
};

}  // namespace

LOOM_EXPORT_BACKEND(Prints, "prints", "1");
