#include <loom/export_backend.h>

#include "seatbelt_backend.h"

LOOM_EXPORT_BACKEND(loom::seatbelt::SeatbeltBackend, "seatbelt", LOOM_BACKEND_VERSION);
