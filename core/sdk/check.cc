#include <loom/check.h>

#include <cstdio>
#include <cstdlib>

namespace loom {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "loom-exec: internal: %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace loom
