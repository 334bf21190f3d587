#include "policy/exec_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom {
namespace {

using testing::IsEmpty;

Policy version_3(std::optional<ExecPolicy> exec) {
  return Policy{.version = 3, .exec = std::move(exec)};
}

ExecPolicy only(std::string directory) {
  return ExecPolicy{.allow = {{ExecEntryKind::kDirectory, std::move(directory)}}};
}

TEST(ExecLayersTest, AVersion2LaunchHasNoOpinion) {
  const Policy base;
  const Policy other;
  for (const Policy* inline_policy : {static_cast<const Policy*>(nullptr), &other}) {
    EXPECT_EQ(exec_in_force(base, inline_policy), ExecInForce{});
  }
}

// guard 9.9: 166
TEST(ExecLayersTest, NilIsVersion3WithoutAnOpinion) {
  const ExecInForce sum = exec_in_force(version_3(std::nullopt), nullptr);

  EXPECT_EQ(sum.version, 3U);
  EXPECT_THAT(sum.layers, IsEmpty());
  EXPECT_FALSE(sum.required);
}

// guard 9.9: 174
TEST(ExecLayersTest, AnInlinePolicyOfVersion2LeavesTheBaseTableInForce) {
  const Policy base = version_3(only("/x"));
  const Policy inline_policy;

  const ExecInForce sum = exec_in_force(base, &inline_policy);

  EXPECT_EQ(sum, exec_in_force(base, nullptr));
  EXPECT_EQ(sum.version, 3U);
  ASSERT_EQ(sum.layers.size(), 1U);
  EXPECT_EQ(sum.layers[0], (ExecLayer{.layer = 0, .table = only("/x")}));
}

// guard 9.9: 175
TEST(ExecLayersTest, BothTablesAreLayersWithTheBaseFirst) {
  const Policy base = version_3(only("/x"));
  const Policy inline_policy = version_3(ExecPolicy{.allow_by_default = true});

  const ExecInForce sum = exec_in_force(base, &inline_policy);

  ASSERT_EQ(sum.layers.size(), 2U);
  EXPECT_EQ(sum.layers[0], (ExecLayer{.layer = 0, .table = only("/x")}));
  EXPECT_EQ(sum.layers[1], (ExecLayer{.layer = 1, .table = *inline_policy.exec}));
}

TEST(ExecLayersTest, AnInlineTableOverAVersion2BaseIsLayer1) {
  const Policy base;
  const Policy inline_policy = version_3(only("/x"));

  const ExecInForce sum = exec_in_force(base, &inline_policy);

  EXPECT_EQ(sum.version, 3U);
  ASSERT_EQ(sum.layers.size(), 1U);
  EXPECT_EQ(sum.layers[0].layer, 1U);
}

TEST(ExecLayersTest, EitherLayerIsEnoughForWhatIsStricter) {
  const ExecPolicy lenient{.system_support = true, .memfd_noexec = false, .required = false};
  const ExecPolicy strict{.system_support = false, .memfd_noexec = true, .required = true};
  const auto in_force = [](const ExecPolicy& base, const ExecPolicy& with) {
    const Policy inline_policy = version_3(with);
    const ExecInForce sum = exec_in_force(version_3(base), &inline_policy);
    return std::tuple(sum.system_support, sum.memfd_noexec, sum.required);
  };

  EXPECT_EQ(in_force(lenient, lenient), std::tuple(true, false, false));
  EXPECT_EQ(in_force(lenient, strict), std::tuple(false, true, true));
  EXPECT_EQ(in_force(strict, lenient), std::tuple(false, true, true));
}

}  // namespace
}  // namespace loom
