#include "guard/overlap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "guard_support.h"
#include "policy/exec_layers.h"

namespace loom::guard {
namespace {

// guard 10.6
class OverlapTest : public testing::Test {
 protected:
  void allow(ExecEntryKind kind, std::string_view name) {
    table_.allow.push_back({.kind = kind, .value = tree_.at(name)});
  }
  void show(MountClass mount_class, std::string_view name, MountForm form = MountForm::kBind) {
    view_.push_back({.mount_class = mount_class,
                     .form = form,
                     .region = path(tree_.at(name)),
                     .written = path(tree_.at(name)),
                     .identity = tree_.has(name) ? tree_.identity(name) : FileIdentity{}});
  }
  [[nodiscard]] std::size_t count() {
    Policy policy;
    policy.version = 3;
    policy.exec = table_;
    const Snapshot taken = Snapshot::take(policy, exec_in_force(policy, nullptr), {});
    return exec_writable(taken, {.view = &view_});
  }

  static constexpr ExecEntryKind kDir = ExecEntryKind::kDirectory;

  Tree tree_;
  ExecPolicy table_;
  std::vector<MountOperation> view_;
};

TEST_F(OverlapTest, WhatNoWriteReachesIsNotCounted) {
  allow(kDir, "/o");
  show(MountClass::kReadable, "/o");
  show(MountClass::kWritable, "/w");

  EXPECT_EQ(count(), 0U);
}

TEST_F(OverlapTest, ADirectoryInAWritableRegionIs) {
  tree_.directory("/w/bin");
  allow(kDir, "/w/bin");
  allow(kDir, "/o");
  show(MountClass::kWritable, "/w");

  EXPECT_EQ(count(), 1U);
}

TEST_F(OverlapTest, SoIsOneWithAWritableRegionInIt) {
  tree_.directory("/o/cache");
  allow(kDir, "/o");
  show(MountClass::kReadable, "/o");
  show(MountClass::kMountReadWrite, "/o/cache");

  EXPECT_EQ(count(), 1U);
}

TEST_F(OverlapTest, SoIsOneThatIsTheSameDirectoryAsTheRegion) {
  allow(kDir, "/w");
  view_.push_back({.mount_class = MountClass::kWritable,
                   .form = MountForm::kBind,
                   .region = path("/alias"),
                   .written = path("/alias"),
                   .identity = tree_.identity("/w")});

  EXPECT_EQ(count(), 1U);
}

TEST_F(OverlapTest, ARegionThatIsCoveredReachesNothing) {
  tree_.directory("/w/bin");
  tree_.directory("/o/cache");
  allow(kDir, "/w/bin");
  allow(kDir, "/o");
  show(MountClass::kWritable, "/w");
  show(MountClass::kWritable, "/o/cache");
  EXPECT_EQ(count(), 2U);

  show(MountClass::kMountReadOnly, "/w/bin", MountForm::kReadOnlyBind);
  show(MountClass::kProtected, "/o/cache", MountForm::kEmptyDirectory);

  EXPECT_EQ(count(), 0U);
}

TEST_F(OverlapTest, AFileIsNoDirectory) {
  tree_.file("/w/t");
  allow(ExecEntryKind::kFile, "/w/t");
  show(MountClass::kWritable, "/w");

  EXPECT_EQ(count(), 0U);
}

TEST_F(OverlapTest, ARegionThatWasAbsentMountsNothing) {
  allow(kDir, "/o");
  show(MountClass::kReadable, "/o");
  show(MountClass::kWritable, "/o/absent", MountForm::kBindTry);

  EXPECT_EQ(count(), 0U);
}

TEST_F(OverlapTest, ATableThatAllowsEverythingIsOneDirectory) {
  table_.allow_by_default = true;
  allow(kDir, "/o");
  show(MountClass::kReadable, "/o");
  EXPECT_EQ(count(), 0U);

  show(MountClass::kWritable, "/w");

  EXPECT_EQ(count(), 1U);
}

}  // namespace
}  // namespace loom::guard
