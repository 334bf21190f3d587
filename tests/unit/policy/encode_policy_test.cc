#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/decode_policy.h"
#include "tests/unit/policy/encoded.h"
#include "tests/unit/policy/golden.h"

namespace loom {
namespace {

class GoldenPolicyTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenPolicyTest, DecodesAndEncodesToTheVeryBytes) {
  const Bytes document = test::golden(GetParam());
  ASSERT_FALSE(document.empty());

  const auto decoded = decode_policy(document);

  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(encode_policy(*decoded), document);
}

INSTANTIATE_TEST_SUITE_P(AllThree, GoldenPolicyTest,
                         testing::Values("sandbox_policy_1.bin", "sandbox_policy_2_network_off.bin",
                                         "sandbox_policy_3_mounts.bin"));

TEST(GoldenPolicyMeaningTest, TheMountsPolicyMeansWhatItSays) {
  const auto decoded = decode_policy(test::golden("sandbox_policy_3_mounts.bin"));

  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->mounts.size(), 2U);
  EXPECT_FALSE(decoded->mounts[0].writable);
  EXPECT_TRUE(decoded->mounts[0].required);
  EXPECT_TRUE(decoded->mounts[1].writable);
  EXPECT_FALSE(decoded->mounts[1].required);
  EXPECT_EQ(decoded->network.mode, NetworkMode::kOff);
  EXPECT_TRUE(decoded->scratch.is_tmpfs());
}

TEST(PolicyEncodeTest, APathThatIsNotUtf8TravelsAsBinary) {
  const auto decoded = decode_policy(
      test::policy_document().with("protected", test::array({test::binary("/\xff")})).bytes());
  ASSERT_TRUE(decoded);

  const auto again = decode_policy(encode_policy(*decoded));

  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *decoded);
}

TEST(PolicyEncodeTest, AnAbsentLimitIsZero) {
  Policy policy;
  policy.limits.cpu_s = 7;

  const auto again = decode_policy(encode_policy(policy));

  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, policy);
}

}  // namespace
}  // namespace loom
