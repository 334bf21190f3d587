#include <loom/export_backend.h>

#include "unsupported/unsupported_backend.h"

LOOM_EXPORT_BACKEND(loom::unsupported::UnsupportedBackend, "unsupported", "0.1.0");
