#include <loom/export_backend.h>

#include "bwrap_backend.h"

LOOM_EXPORT_BACKEND(loom::bwrap::BwrapBackend, "bwrap", LOOM_BACKEND_VERSION);
