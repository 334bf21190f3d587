#include "host/errno_text.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace loom::host {
namespace {

TEST(ErrnoTextTest, KnownNumbersGetTheKernelsWords) {
  EXPECT_EQ(errno_text(ENOENT), "No such file or directory");
}

TEST(ErrnoTextTest, AnUnknownNumberIsNamed) { EXPECT_EQ(errno_text(99'999), "error 99999"); }

}  // namespace
}  // namespace loom::host
