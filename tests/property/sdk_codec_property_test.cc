#include <gtest/gtest.h>
#include <loom/codec.h>
#include <loom/value.h>

#include <string>

#include "tests/property/property_seed.h"
#include "tests/property/sdk_random_values.h"

namespace loom::test {
namespace {

constexpr int kRounds = kPropertyRounds;

// One type that crosses: how to draw it, and its decoder.
template <class T, T (RandomValues::*Draw)(), Result<T> (*Decode)(ByteView)>
struct Codec {
  static T draw(RandomValues& random) { return (random.*Draw)(); }
  static Result<T> decode(ByteView bytes) { return Decode(bytes); }
};

#define LOOM_TEST_CODEC_(Type, name) Codec<Type, &RandomValues::name, &decode_##name>
using Codecs = ::testing::Types<
    LOOM_TEST_CODEC_(HostFacts, host_facts), LOOM_TEST_CODEC_(Features, features),
    LOOM_TEST_CODEC_(SurveyRequest, survey_request), LOOM_TEST_CODEC_(Survey, survey),
    LOOM_TEST_CODEC_(Pieces, pieces), LOOM_TEST_CODEC_(ProbeRequest, probe_request),
    LOOM_TEST_CODEC_(PlanRequest, plan_request), LOOM_TEST_CODEC_(JailPlan, jail_plan),
    LOOM_TEST_CODEC_(LaunchSpec, launch_spec), LOOM_TEST_CODEC_(Audit, audit),
    LOOM_TEST_CODEC_(StartResult, start_result), LOOM_TEST_CODEC_(ExecObject, exec_object),
    LOOM_TEST_CODEC_(TargetsRequest, targets_request), LOOM_TEST_CODEC_(Targets, targets),
    LOOM_TEST_CODEC_(TrialResult, trial_result), LOOM_TEST_CODEC_(ControlMessage, control_message),
    LOOM_TEST_CODEC_(CommitDocument, commit_document)>;
#undef LOOM_TEST_CODEC_

template <class C>
class SdkCodecProperty : public ::testing::Test {
 protected:
  SdkCodecProperty() : seed_(property_seed()), random_(seed_) {}

  std::string replay() const { return "LOOM_SEED=" + std::to_string(seed_); }

  std::uint32_t seed_;
  RandomValues random_;
};
TYPED_TEST_SUITE(SdkCodecProperty, Codecs);

TYPED_TEST(SdkCodecProperty, WhatWasEncodedDecodesToTheSame) {
  for (int round = 0; round < kRounds; ++round) {
    const auto value = TypeParam::draw(this->random_);

    const auto decoded = TypeParam::decode(encode(value));

    ASSERT_TRUE(decoded) << this->replay() << ": " << decoded.error().message;
    ASSERT_EQ(*decoded, value) << this->replay();
  }
}

TYPED_TEST(SdkCodecProperty, EveryTruncationIsRefused) {
  for (int round = 0; round < 5; ++round) {
    const Bytes bytes = encode(TypeParam::draw(this->random_));

    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto decoded = TypeParam::decode(ByteView(bytes).first(size));
      ASSERT_FALSE(decoded) << this->replay() << " cut to " << size << " of " << bytes.size();
      ASSERT_EQ(decoded.error().code, ErrorCode::kInvalidRequest) << this->replay();
    }
    ASSERT_TRUE(TypeParam::decode(bytes)) << this->replay();
  }
}

// What a decoder accepts it understood: written out and read again it is the same value.
TYPED_TEST(SdkCodecProperty, AMutationIsRefusedOrUnderstood) {
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    Bytes bytes = encode(TypeParam::draw(this->random_));
    for (std::uint64_t i = 1 + this->random_.below(3); i > 0; --i) {
      bytes[this->random_.below(bytes.size())] = static_cast<std::byte>(this->random_.below(256));
    }

    const auto decoded = TypeParam::decode(bytes);

    if (!decoded) {
      ++refused;
      ASSERT_EQ(decoded.error().code, ErrorCode::kInvalidRequest) << this->replay();
      ASSERT_FALSE(decoded.error().message.empty()) << this->replay();
      continue;
    }
    // Reading directly must not let pass what the strict parser refuses.
    ASSERT_TRUE(parse_value(bytes)) << this->replay();
    const auto again = TypeParam::decode(encode(*decoded));
    ASSERT_TRUE(again) << this->replay() << ": " << again.error().message;
    ASSERT_EQ(*again, *decoded) << this->replay();
  }
  EXPECT_GT(refused, kRounds / 10) << this->replay();
}

TEST(SdkValueProperty, NoByteStringCrashesTheParser) {
  RandomValues random(property_seed());
  int accepted = 0;
  for (int round = 0; round < 20 * kRounds; ++round) {
    const Bytes bytes = random.bytes();
    accepted += parse_value(bytes) ? 1 : 0;
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace loom::test
