#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace loom::test {

// Whether whoever runs the tests says that this machine has every layer of a jail.
[[nodiscard]] inline bool jail_is_promised() {
  const char* const value = std::getenv("LOOM_JAIL_MUST_WORK");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace loom::test

// Ends a test, or a set-up, for which the machine lacks a layer: skipped, or failed where every
// layer was promised.
#define LOOM_SKIP_UNLESS_PROMISED(why)                                                    \
  do {                                                                                    \
    if (::loom::test::jail_is_promised()) FAIL() << "LOOM_JAIL_MUST_WORK=1, and " << why; \
    GTEST_SKIP() << why;                                                                  \
  } while (false)
