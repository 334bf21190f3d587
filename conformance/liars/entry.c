/* The entry of one liar: LOOM_LIAR_TABLE is the function that has its table. */
#include <loom/backend_abi.h>

#define EXPORTED __attribute__((visibility("default")))

const loom_backend_v1* LOOM_LIAR_TABLE(void);

EXPORTED const loom_backend_v1* LOOM_BACKEND_ENTRY(void);
const loom_backend_v1* LOOM_BACKEND_ENTRY(void) { return LOOM_LIAR_TABLE(); }

#ifdef LOOM_SECOND_SYMBOL
EXPORTED int loom_helper_hook(void);
int loom_helper_hook(void) { return 0; }
#endif
