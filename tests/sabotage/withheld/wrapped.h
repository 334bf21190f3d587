#pragma once

// The names that the linker gives (ld, --wrap): whoever called the wrapped symbol calls ours, and
// the real one is still there. `LOOM_WRAPPED` is the symbol as a string, `LOOM_WRAPPED_SECOND`
// and `LOOM_WRAPPED_THIRD` are further ones, where there are some.
#define LOOM_REAL asm("__real_" LOOM_WRAPPED)
#define LOOM_OURS asm("__wrap_" LOOM_WRAPPED)
#define LOOM_SECOND_REAL asm("__real_" LOOM_WRAPPED_SECOND)
#define LOOM_SECOND_OURS asm("__wrap_" LOOM_WRAPPED_SECOND)
#define LOOM_THIRD_REAL asm("__real_" LOOM_WRAPPED_THIRD)
#define LOOM_THIRD_OURS asm("__wrap_" LOOM_WRAPPED_THIRD)
