#include "core/sdk/kept_launch.h"

#include <gtest/gtest.h>
#include <loom/codec.h>

#include <string>

namespace loom::boundary {
namespace {

LaunchSpec launch_with_inner_stage() {
  return {.argv = {"launcher"}, .report_number = 3, .control_number = 4};
}

TEST(KeptLaunchTest, ItIsFoundByWhatItIsAndByItsBytes) {
  const LaunchSpec launch = launch_with_inner_stage();
  const Bytes bytes = encode(launch);
  KeptLaunch kept;
  EXPECT_EQ(kept.find(launch), nullptr);
  EXPECT_EQ(kept.find(ByteView(bytes)), nullptr);
  EXPECT_EQ(kept.find(ByteView()), nullptr);
  kept.keep(launch, bytes);

  ASSERT_NE(kept.find(launch), nullptr);
  EXPECT_EQ(*kept.find(launch), bytes);
  ASSERT_NE(kept.find(ByteView(bytes)), nullptr);
  EXPECT_EQ(*kept.find(ByteView(bytes)), launch);

  LaunchSpec other = launch;
  other.watched.push_back({.path = AbsolutePath::root()});
  EXPECT_EQ(kept.find(other), nullptr);
  EXPECT_EQ(kept.find(ByteView(encode(other))), nullptr);
  kept.forget();
  EXPECT_EQ(kept.find(launch), nullptr);
  EXPECT_EQ(kept.find(ByteView(bytes)), nullptr);
}

TEST(KeptLaunchTest, AnotherCommitIsTheSameLaunchAndStaysOutOfIt) {
  LaunchSpec launch = launch_with_inner_stage();
  KeptLaunch kept;
  const Bytes bytes = encode(launch);
  kept.keep(launch, bytes);
  launch.commit = Bytes(9);
  ASSERT_NE(kept.find(launch), nullptr);
  EXPECT_TRUE(kept.find(ByteView(bytes))->commit.empty());
}

TEST(KeptLaunchTest, WhatMayHoldACommandsSecretsIsNotKept) {
  const auto may_keep = [](const LaunchSpec& launch) {
    return KeptLaunch::may_keep(launch, encode(launch));
  };
  EXPECT_TRUE(may_keep(launch_with_inner_stage()));
  LaunchSpec told = launch_with_inner_stage();
  told.commit = Bytes(1);
  EXPECT_FALSE(may_keep(told));
  EXPECT_FALSE(may_keep({.argv = {"command"}, .environment = {"TOKEN=1"}}));
  LaunchSpec large = launch_with_inner_stage();
  large.argv.emplace_back(1u << 20, 'x');
  EXPECT_FALSE(may_keep(large));
}

}  // namespace
}  // namespace loom::boundary
