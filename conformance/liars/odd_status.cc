// Answers with a status that nobody has defined.
#include "liar.h"

namespace loom::liars::odd_status {

loom_status audit(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  const loom_status status = exported::audit(self, in, out, error);
  return status == 0 ? 77 : status;
}

void change(loom_backend_v1& table) { table.audit = &audit; }

}  // namespace loom::liars::odd_status

LOOM_LIAR_TABLE(odd_status, loom::liars::odd_status::change);
