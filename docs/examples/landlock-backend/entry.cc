#include <loom/export_backend.h>

#include "landlock_backend.h"

LOOM_EXPORT_BACKEND(landlock::LandlockBackend, "landlock", "0.1.0");
