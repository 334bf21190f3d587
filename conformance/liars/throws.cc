// Throws across the table where a path is protected.
#include <stdexcept>

#include "liar.h"

namespace loom::liars::throws {

// What the table declares is a promise of the author, and this one breaks it: the exception meets
// the first function that keeps it, and ends the process there.
loom_status plan(void* self, loom_view in, const loom_sink* out,
                 const loom_sink* error) noexcept(false) {
  const std::string_view text(reinterpret_cast<const char*>(in.data), in.size);
  if (text.find("/.env") != std::string_view::npos) throw std::runtime_error("protected");
  return exported::plan(self, in, out, error);
}

void change(loom_backend_v1& table) { table.plan = reinterpret_cast<loom_verb>(&plan); }

}  // namespace loom::liars::throws

LOOM_LIAR_TABLE(throws, loom::liars::throws::change);
