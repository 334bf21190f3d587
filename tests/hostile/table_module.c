/* A backend in plain C. As it stands it is correct and answers nothing but `pieces`; definitions on
 * the command line break one thing at a time. */
#include <fcntl.h>
#include <loom/backend_abi.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef LOOM_MAGIC
#define LOOM_MAGIC LOOM_BACKEND_MAGIC
#endif
#ifndef LOOM_ABI
#define LOOM_ABI LOOM_BACKEND_ABI
#endif
#ifndef LOOM_STRUCT_SIZE
#define LOOM_STRUCT_SIZE ((uint32_t)sizeof(loom_backend_v1))
#endif
#ifndef LOOM_MODULE_NAME
#define LOOM_MODULE_NAME "honest"
#endif
#ifndef LOOM_RENDER
#define LOOM_RENDER refuse
#endif
#ifndef LOOM_PIECES
#define LOOM_PIECES no_pieces
#endif

#define EXPORTED __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))

/* Leaves a file behind as soon as the module is mapped, so that a test can tell. */
__attribute__((constructor)) static void leave_mark(void) {
  const char* mark = getenv("LOOM_TEST_MARK");
  if (mark != NULL) close(open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static char instance;

static void* create(const loom_host_v1* host, const loom_sink* error) {
  (void)host;
  (void)error;
  return &instance;
}

static void nothing(void* self) { (void)self; }

UNUSED static loom_status refuse(void* self, loom_view in, const loom_sink* out,
                                 const loom_sink* error) {
  static const uint8_t kWhy[] = {'n', 'o'};
  (void)self;
  (void)in;
  (void)out;
  error->append(error->ctx, kWhy, sizeof(kWhy));
  return 3;
}

UNUSED static loom_status no_pieces(void* self, loom_view in, const loom_sink* out,
                                    const loom_sink* error) {
  /* {"v": 1, "launcher": "", "stage2": ""} */
  static const uint8_t kPieces[] = {0x83, 0xA1, 'v',  1,    0xA8, 'l', 'a', 'u', 'n', 'c', 'h',
                                    'e',  'r',  0xA0, 0xA6, 's',  't', 'a', 'g', 'e', '2', 0xA0};
  (void)self;
  (void)in;
  (void)error;
  out->append(out->ctx, kPieces, sizeof(kPieces));
  return 0;
}

/* Not quite for ever: a host that stored what it is given would hold a gigabyte. */
static void flood(const loom_sink* sink) {
  static uint8_t block[1 << 20]; /* not const: it would make the module a megabyte larger */
  for (int i = 0; i < 1024; ++i) sink->append(sink->ctx, block, sizeof(block));
}

UNUSED static loom_status answer_forever(void* self, loom_view in, const loom_sink* out,
                                         const loom_sink* error) {
  (void)self;
  (void)in;
  (void)error;
  flood(out);
  return 0;
}

UNUSED static loom_status complain_forever(void* self, loom_view in, const loom_sink* out,
                                           const loom_sink* error) {
  (void)self;
  (void)in;
  (void)out;
  flood(error);
  return 1;
}

UNUSED static loom_status return_strange_status(void* self, loom_view in, const loom_sink* out,
                                                const loom_sink* error) {
  (void)self;
  (void)in;
  (void)out;
  (void)error;
  return 77;
}

UNUSED static const loom_backend_v1 table = {.magic = LOOM_MAGIC,
                                             .abi = LOOM_ABI,
                                             .struct_size = LOOM_STRUCT_SIZE,
                                             .reserved = 0,
                                             .name = LOOM_MODULE_NAME,
                                             .version = "1",
                                             .build_tag = "test",
                                             .create = create,
                                             .destroy = nothing,
                                             .features = refuse,
                                             .survey = refuse,
                                             .pieces = LOOM_PIECES,
                                             .probe = refuse,
                                             .plan = refuse,
                                             .render = LOOM_RENDER,
                                             .audit = refuse,
                                             .start = refuse,
                                             .observe = refuse,
                                             .targets = refuse,
                                             .finish = nothing};

#ifdef LOOM_WITH_UNRESOLVED_SYMBOL
int loom_symbol_that_nobody_has(void);
EXPORTED int loom_needs_it(void);
int loom_needs_it(void) { return loom_symbol_that_nobody_has(); }
#endif

#ifdef LOOM_WITHOUT_ENTRY
EXPORTED const void* loom_backend_entry_v0(void);
const void* loom_backend_entry_v0(void) { return &table; }
#else
EXPORTED const loom_backend_v1* LOOM_BACKEND_ENTRY(void);
const loom_backend_v1* LOOM_BACKEND_ENTRY(void) {
#ifdef LOOM_WITHOUT_TABLE
  return NULL;
#else
  return &table;
#endif
}
#endif
