#ifndef LOOM_BACKEND_ABI_H_
#define LOOM_BACKEND_ABI_H_

/* The C table between the helper and a backend. Only what this header declares crosses. Compiles as
 * C11 and as C++20. docs/backend-guide.md explains how to write a backend; C++ authors include
 * <loom/export_backend.h> and never touch this file. */

/* NOLINTBEGIN: a C header */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define LOOM_NOEXCEPT noexcept
#else
#define LOOM_NOEXCEPT
#endif

#define LOOM_BACKEND_MAGIC 0x6D6F6F6Cu /* "loom", little-endian */
#define LOOM_BACKEND_ABI 1u            /* also part of the entry symbol's name */
#define LOOM_BACKEND_ENTRY loom_backend_entry_v1
#define LOOM_BACKEND_ENTRY_NAME "loom_backend_entry_v1"

typedef int32_t loom_status; /* 0 is success; otherwise a loom::ErrorCode plus one */

/* Borrowed: valid until the call that received it returns. */
typedef struct loom_view {
  const uint8_t* data; /* may be null when size is 0 */
  size_t size;
} loom_view;

/* Where a callee puts its answer, in as many pieces as it likes. The caller owns the result. Past
 * its ceiling (16 MiB for an answer, 4 KiB for an error) a sink drops bytes and the call counts as
 * broken. */
typedef struct loom_sink {
  void* ctx;
  void (*append)(void* ctx, const uint8_t* data, size_t size) LOOM_NOEXCEPT;
} loom_sink;

/* Services the host lends for the life of the instance. Every view and every answer is one encoded
 * value of <loom/codec.h>, except the text of log. */
typedef struct loom_host_v1 {
  uint32_t struct_size; /* of the host's table */
  uint32_t reserved;    /* 0 */
  void* ctx;
  void (*log)(void* ctx, int32_t level, loom_view utf8) LOOM_NOEXCEPT;
  /* Probe only. launch -> TrialResult. */
  loom_status (*try_launch)(void* ctx, loom_view launch, uint32_t deadline_ms, const loom_sink* out,
                            const loom_sink* error) LOOM_NOEXCEPT;
  /* Start only, exactly once: the only way a backend may start a process. It describes, the host
   * forks, and the process stays the host's. */
  loom_status (*spawn)(void* ctx, loom_view launch, int32_t* pid,
                       const loom_sink* error) LOOM_NOEXCEPT;
  /* Start only. -> ExecObject; its handle is the host's and lives until the next call. */
  loom_status (*next_exec_object)(void* ctx, const loom_sink* out,
                                  const loom_sink* error) LOOM_NOEXCEPT;
  /* Targets only. Appends the children of pid, each as an int32_t in native byte order. */
  loom_status (*children)(void* ctx, int32_t pid, const loom_sink* out,
                          const loom_sink* error) LOOM_NOEXCEPT;
} loom_host_v1;

typedef loom_status (*loom_verb)(void* self, loom_view in, const loom_sink* out,
                                 const loom_sink* error) LOOM_NOEXCEPT;

/* One entry a verb; what goes in and comes out is named beside it. An empty input is an empty view.
 */
typedef struct loom_backend_v1 {
  uint32_t magic, abi, struct_size, reserved;
  const char *name, *version, *build_tag; /* static storage; build_tag is for messages only */
  void* (*create)(const loom_host_v1* host,
                  const loom_sink* error)LOOM_NOEXCEPT; /* null: see error */
  void (*destroy)(void* self) LOOM_NOEXCEPT;
  loom_verb features; /* HostFacts -> Features */
  loom_verb survey;   /* SurveyRequest -> Survey */
  loom_verb pieces;   /* nothing -> Pieces */
  loom_verb probe;    /* ProbeRequest -> bytes that become HostFacts.backend */
  loom_verb plan;     /* PlanRequest -> JailPlan */
  loom_verb render;   /* JailPlan -> LaunchSpec */
  loom_verb audit;    /* JailPlan -> Audit */
  loom_verb start;    /* LaunchSpec without its commit -> StartResult */
  loom_verb observe;  /* TargetsRequest -> nothing */
  loom_verb targets;  /* TargetsRequest -> Targets */
  void (*finish)(void* self) LOOM_NOEXCEPT;
} loom_backend_v1;

typedef const loom_backend_v1* (*loom_backend_entry)(void)LOOM_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif
/* NOLINTEND */

#endif /* LOOM_BACKEND_ABI_H_ */
