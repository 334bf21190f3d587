// Believes that every plan it gets is one of its own.
#include <cstdlib>

#include "liar.h"

namespace loom::liars::crashes_on_noise {

loom_status render(void* self, loom_view in, const loom_sink* out,
                   const loom_sink* error) noexcept {
  const loom_status status = exported::render(self, in, out, error);
  if (status == 1) std::abort();
  return status;
}

void change(loom_backend_v1& table) { table.render = &render; }

}  // namespace loom::liars::crashes_on_noise

LOOM_LIAR_TABLE(crashes_on_noise, loom::liars::crashes_on_noise::change);
