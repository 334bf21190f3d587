#include <loom/backend_abi.h>

/* That the two tables can be filled from C. */
const loom_backend_v1* loom_backend_entry_of_a_c_program(void);

static const loom_backend_v1 table = {.magic = LOOM_BACKEND_MAGIC,
                                      .abi = LOOM_BACKEND_ABI,
                                      .struct_size = (uint32_t)sizeof(loom_backend_v1),
                                      .name = LOOM_BACKEND_ENTRY_NAME};

const loom_backend_v1* loom_backend_entry_of_a_c_program(void) { return &table; }
