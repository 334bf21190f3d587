#pragma once

namespace loom {

// Prints `condition` with its place and aborts. For broken internal invariants only: input never
// reaches a LOOM_CHECK.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace loom

#define LOOM_CHECK(condition)                               \
  do {                                                      \
    if (!(condition)) {                                     \
      ::loom::check_failed(#condition, __FILE__, __LINE__); \
    }                                                       \
  } while (false)
