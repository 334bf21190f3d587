// Answers without an end.
#include "liar.h"

namespace loom::liars::huge_answer {

// 17 MiB of it; a host that stored what it gets would hold as much as we like.
loom_status pieces(void* self, loom_view in, const loom_sink* out,
                   const loom_sink* error) noexcept {
  static std::uint8_t block[1u << 20];
  const loom_status status = exported::pieces(self, in, out, error);
  for (int i = 0; i < 17; ++i) out->append(out->ctx, block, sizeof block);
  return status;
}

void change(loom_backend_v1& table) { table.pieces = &pieces; }

}  // namespace loom::liars::huge_answer

LOOM_LIAR_TABLE(huge_answer, loom::liars::huge_answer::change);
