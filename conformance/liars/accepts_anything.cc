// Takes what it cannot read for something that it has read before.
#include <vector>

#include "liar.h"

namespace loom::liars::accepts_anything {

// What does not decode is answered like the last question that did.
std::vector<std::uint8_t> last_good;

loom_status plan(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  const loom_status status = exported::plan(self, in, out, error);
  if (status == 0) last_good.assign(in.data, in.data + in.size);
  if (status != 1 || last_good.empty()) return status;
  return exported::plan(self, {.data = last_good.data(), .size = last_good.size()}, out, error);
}

void change(loom_backend_v1& table) { table.plan = &plan; }

}  // namespace loom::liars::accepts_anything

LOOM_LIAR_TABLE(accepts_anything, loom::liars::accepts_anything::change);
