// Has a name that leads out of a folder.
#include "liar.h"

namespace loom::liars::bad_name {

void change(loom_backend_v1& table) { table.name = "../bwrap"; }

}  // namespace loom::liars::bad_name

LOOM_LIAR_TABLE(bad_name, loom::liars::bad_name::change);
