// Says far too much when it refuses.
#include "liar.h"

namespace loom::liars::long_error {

loom_status plan(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  const loom_status status = exported::plan(self, in, out, error);
  const std::string more(10'000, '!');
  if (status != 0) {
    error->append(error->ctx, reinterpret_cast<const std::uint8_t*>(more.data()), more.size());
  }
  return status;
}

void change(loom_backend_v1& table) { table.plan = &plan; }

}  // namespace loom::liars::long_error

LOOM_LIAR_TABLE(long_error, loom::liars::long_error::change);
