// Answers a large policy with more than an answer may hold.
#include "liar.h"

namespace loom::liars::grows {

loom_status plan(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  static std::uint8_t block[1u << 20];
  for (std::size_t i = 0; in.size > 400'000 && i < 17; ++i) {
    out->append(out->ctx, block, sizeof block);
  }
  return exported::plan(self, in, out, error);
}

void change(loom_backend_v1& table) { table.plan = &plan; }

}  // namespace loom::liars::grows

LOOM_LIAR_TABLE(grows, loom::liars::grows::change);
