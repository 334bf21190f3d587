#include "host/output_cap.h"

#include <gtest/gtest.h>

namespace loom::host {
namespace {

TEST(OutputCapTest, WithoutACapEverythingIsForwarded) {
  OutputCap cap(std::nullopt);

  const auto verdict = cap.take(100'000);

  EXPECT_TRUE(verdict.forward);
  EXPECT_EQ(verdict.bytes, 100'000u);
  EXPECT_FALSE(verdict.truncated);
  EXPECT_EQ(cap.forwarded(), 100'000u);
}

// cases.md 168
TEST(OutputCapTest, TheChunkThatCrossesTheCapIsCutAndMarkedOnce) {
  OutputCap out(4'096);
  OutputCap err(4'096);

  const auto crossing = out.take(32'768);
  const auto later = out.take(32'768);
  const auto line = err.take(20);

  EXPECT_TRUE(crossing.forward);
  EXPECT_EQ(crossing.bytes, 4'096u);
  EXPECT_TRUE(crossing.truncated);
  EXPECT_FALSE(later.forward);
  EXPECT_FALSE(later.truncated);
  EXPECT_EQ(out.forwarded(), 4'096u);
  EXPECT_TRUE(out.truncated());
  EXPECT_EQ(line.bytes, 20u);
  EXPECT_FALSE(err.truncated());
}

// cases.md 169
TEST(OutputCapTest, ReachingTheCapExactlyIsNotTruncation) {
  OutputCap cap(4'096);

  const auto verdict = cap.take(4'096);

  EXPECT_EQ(verdict.bytes, 4'096u);
  EXPECT_FALSE(verdict.truncated);
  EXPECT_FALSE(cap.truncated());
}

// cases.md 169
TEST(OutputCapTest, OneByteAfterTheExactCapIsAnEmptyTruncatedChunk) {
  OutputCap cap(4'096);
  ASSERT_FALSE(cap.take(4'096).truncated);

  const auto verdict = cap.take(1);

  EXPECT_TRUE(verdict.forward);
  EXPECT_EQ(verdict.bytes, 0u);
  EXPECT_TRUE(verdict.truncated);
}

TEST(OutputCapTest, AReadOfNothingIsNoChunk) {
  OutputCap cap(0);

  EXPECT_FALSE(cap.take(0).forward);
  EXPECT_FALSE(cap.truncated());
}

TEST(OutputCapTest, ACapBeyondTheAddressSpaceIsNoCap) {
  OutputCap cap(UINT64_MAX);

  EXPECT_EQ(cap.take(SIZE_MAX).bytes, SIZE_MAX);
  EXPECT_FALSE(cap.truncated());
}

}  // namespace
}  // namespace loom::host
