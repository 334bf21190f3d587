// Has a table that is too short.
#include "liar.h"

namespace loom::liars::short_table {

void change(loom_backend_v1& table) { table.struct_size = sizeof(loom_backend_v1) - 8; }

}  // namespace loom::liars::short_table

LOOM_LIAR_TABLE(short_table, loom::liars::short_table::change);
