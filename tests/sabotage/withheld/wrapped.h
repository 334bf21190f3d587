#pragma once

// The names that the linker gives (ld, --wrap): whoever called the wrapped symbol calls ours, and
// the real one is still there. `LOOM_WRAPPED` is the symbol as a string.
#define LOOM_REAL asm("__real_" LOOM_WRAPPED)
#define LOOM_OURS asm("__wrap_" LOOM_WRAPPED)
