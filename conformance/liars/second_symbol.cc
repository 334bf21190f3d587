// Exports more than its entry.
#include "liar.h"

namespace loom::liars::second_symbol {

void change(loom_backend_v1&) {}

}  // namespace loom::liars::second_symbol

LOOM_LIAR_TABLE(second_symbol, loom::liars::second_symbol::change);
