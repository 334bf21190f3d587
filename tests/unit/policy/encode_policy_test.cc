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

// The sample of docs/policy.md 6.
Policy sample() {
  Policy policy{.version = 3};
  policy.exec = ExecPolicy{.allow = {{ExecEntryKind::kDirectory, "/usr/bin"}},
                           .deny = {{ExecEntryKind::kName, "curl"}}};
  return policy;
}

// 112 bytes that were not written by this encoder.
Bytes sample_exec() {
  return test::from_hex(
      "86a5616c6c6f779182a46b696e64a3646972a576616c7565a82f7573722f6269"
      "6ea764656661756c74a464656e79a464656e799182a46b696e64a46e616d65a5"
      "76616c7565a46375726ca56d656d6664a66e6f65786563a87265717569726564"
      "c3a7737570706f7274a673797374656d");
}

TEST(PolicyEncodeTest, AnExecTableEncodesToTheSamplesVeryBytes) {
  ASSERT_EQ(sample_exec().size(), 112U);
  const Bytes document = encode_policy(sample());

  const auto tree = parse_value(document);

  ASSERT_TRUE(tree);
  // Ten keys, in ascending order of bytes.
  const std::vector<std::string_view> keys = {
      "env_allow", "exec",           "limits",  "mounts", "network",
      "protected", "readable_roots", "scratch", "v",      "writable_roots"};
  ASSERT_EQ(tree->items.size(), 20U);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(tree->items[2 * i].bytes, keys[i]);
  const Bytes sample_bytes = sample_exec();
  EXPECT_NE(as_text(document).find("\xa4"
                                   "exec" +
                                   std::string(as_text(sample_bytes))),
            std::string_view::npos);
  EXPECT_EQ(decode_policy(document)->exec, sample().exec);
}

TEST(PolicyEncodeTest, NoOpinionIsNilInVersion3AndNoKeyInVersion2) {
  const Bytes document = encode_policy(Policy{.version = 3});
  const auto decoded = decode_policy(document);

  EXPECT_NE(as_text(document).find("\xa4"
                                   "exec\xc0"),
            std::string_view::npos);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, Policy{.version = 3});
  EXPECT_EQ(as_text(encode_policy(Policy{})).find("exec"), std::string_view::npos);
}

TEST(PolicyEncodeTest, AnEntryThatIsNotUtf8TravelsAsBinary) {
  Policy policy{.version = 3};
  policy.exec = ExecPolicy{.deny = {{ExecEntryKind::kFile, "/\xff"}}};

  const auto again = decode_policy(encode_policy(policy));

  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, policy);
}

}  // namespace
}  // namespace loom
