#include "report/entry_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace loom {
namespace {

TEST(EntryTextTest, ASizeIsShownInTheLargestUnitItFills) {
  EXPECT_EQ(binary_size(0), "0 B");
  EXPECT_EQ(binary_size(1'023), "1023 B");
  EXPECT_EQ(binary_size(1'024), "1.0 KiB");
  EXPECT_EQ(binary_size(64u << 20), "64.0 MiB");
  EXPECT_EQ(binary_size((3ull << 30) / 2), "1.5 GiB");
  EXPECT_EQ(binary_size(UINT64_MAX), "16.0 EiB");
}

TEST(EntryTextTest, ASizeIsNeverRoundedUpTo1024OfAUnit) {
  EXPECT_EQ(binary_size((1u << 20) - 1), "1.0 MiB");
  EXPECT_EQ(binary_size((1u << 20) - 1'024), "1023.0 KiB");
}

}  // namespace
}  // namespace loom
