#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "backends/bwrap/mount_steps.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render_argv.h"
#include "backends/bwrap/view.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

constexpr int kRounds = 2'000;

std::uint32_t seed() {
  const char* replayed = std::getenv("LOOM_SEED");
  const std::uint32_t chosen = replayed != nullptr
                                   ? static_cast<std::uint32_t>(std::strtoul(replayed, nullptr, 10))
                                   : std::random_device{}();
  std::cout << "LOOM_SEED=" << chosen << '\n';
  return chosen;
}

// A few names, so that paths meet often.
const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames = {
      "/",        "/a",      "/a-b",  "/a/b",     "/a/b/c", "/b",     "/tmp",  "/tmp/x",  "/usr",
      "/usr/bin", "/bin/sh", "/link", "/link/in", "/etc",   "/opt/t", "/data", "/data/in"};
  return kNames;
}

Machine small_world() {
  Machine machine;
  for (const std::string& name : names()) machine.directory(name);
  const LinkFact link{.place = path("/link"), .target = "data"};
  machine.linked("/link", "/data", {link}).linked("/link/in", "/data/in", {link});
  machine.linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  machine.file("/a/b/c").file("/bin/sh");
  return machine;
}

std::vector<AbsolutePath> some(std::mt19937& random, std::size_t most) {
  std::vector<AbsolutePath> chosen;
  const std::size_t size = random() % (most + 1);
  for (std::size_t i = 0; i < size; ++i) {
    chosen.push_back(path(names()[random() % names().size()]));
  }
  return chosen;
}

Policy random_policy(std::mt19937& random) {
  Policy policy;
  policy.readable_roots = some(random, 4);
  policy.writable_roots = some(random, 3);
  policy.protected_paths = some(random, 4);
  for (const AbsolutePath& at : some(random, 3)) {
    const auto same = [&at](const ExplicitMount& mount) { return mount.path == at; };
    if (std::none_of(policy.mounts.begin(), policy.mounts.end(), same)) {
      policy.mounts.push_back(
          {.path = at, .writable = random() % 2 == 0, .required = random() % 2 == 0});
    }
  }
  if (random() % 3 == 0) policy.scratch = host_scratch(names()[random() % names().size()]);
  return policy;
}

TEST(PlanPropertyTest, PermutingTheListsChangesNoArgument) {
  std::mt19937 random(seed());
  const Machine machine = small_world();
  for (int round = 0; round < kRounds; ++round) {
    const Policy policy = random_policy(random);
    Policy shuffled = policy;
    std::shuffle(shuffled.readable_roots.begin(), shuffled.readable_roots.end(), random);
    std::shuffle(shuffled.writable_roots.begin(), shuffled.writable_roots.end(), random);
    std::shuffle(shuffled.protected_paths.begin(), shuffled.protected_paths.end(), random);
    std::shuffle(shuffled.mounts.begin(), shuffled.mounts.end(), random);
    ASSERT_EQ(argv_of(machine, policy), argv_of(machine, shuffled)) << round;
  }
}

TEST(PlanPropertyTest, AddingAProtectedPathAddsNoGrant) {
  std::mt19937 random(seed());
  const Machine machine = small_world();
  std::size_t hidden = 0;
  for (int round = 0; round < kRounds; ++round) {
    Policy policy = random_policy(random);
    const auto before = build_view(machine.resolve(policy));
    policy.protected_paths.push_back(path(names()[random() % names().size()]));
    const auto after = build_view(machine.resolve(policy));
    const ViewReplay was(before);
    const ViewReplay is(after);
    for (const std::string& name : names()) {
      const MountOperation* old_view = was.effective(name);
      const MountOperation* new_view = is.effective(name);
      ASSERT_NE(old_view, nullptr);
      ASSERT_NE(new_view, nullptr);
      // A pin shows what is there without it.
      const bool same =
          old_view->mount_class == new_view->mount_class ||
          (is_host_writable(old_view->mount_class) && is_host_writable(new_view->mount_class));
      ASSERT_TRUE(same || new_view->mount_class == MountClass::kProtected)
          << round << ' ' << name << joined(canonical_argv(after, false));
      if (!same) ++hidden;
    }
  }
  EXPECT_GT(hidden, 0U);
}

// Whether an operation promises something about its name: a mask, a read-only mount, a readable
// root.
bool is_promise(const MountOperation& operation, const ResolvedPolicy& policy,
                const ViewReplay& replay) {
  if (operation.mount_class == MountClass::kProtected) return true;
  const bool named =
      std::any_of(policy.readable.begin(), policy.readable.end(),
                  [&operation](const NamedPath& root) { return root.real == operation.region; });
  const bool read_only = operation.mount_class == MountClass::kMountReadOnly ||
                         (operation.mount_class == MountClass::kReadable && named);
  return read_only && replay.effective(operation.region) == &operation;
}

// D11: from wherever a command may write, no name on the way to a promise can be moved.
TEST(PlanPropertyTest, WhatLiesAboveAPromiseIsAMountPointOrCannotBeWritten) {
  std::mt19937 random(seed());
  const Machine machine = small_world();
  std::size_t pins = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Policy policy = random_policy(random);
    const auto made = plan(machine.request(policy));
    if (!made) continue;
    const ResolvedPolicy resolved = machine.resolve(policy);
    const ViewReplay replay(made->view);
    for (const MountOperation& operation : made->view) {
      if (operation.mount_class == MountClass::kPin) ++pins;
      if (!is_promise(operation, resolved, replay)) continue;
      for (AbsolutePath at = operation.region.parent(); !at.is_root(); at = at.parent()) {
        const MountOperation* around = replay.effective(at);
        ASSERT_TRUE(!is_host_writable(around->mount_class) || around->region == at)
            << round << ' ' << at.str() << joined(made->canonical_argv);
      }
    }
  }
  EXPECT_GT(pins, 0U);
}

// Whatever is mounted later covers what was mounted before, in the order in which it is done, too.
TEST(PlanPropertyTest, TheOrderByHandleShowsWhatTheViewShows) {
  std::mt19937 random(seed());
  Machine machine = small_world();
  machine.by_handle();
  std::size_t covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto made = plan(machine.request(random_policy(random)));
    if (!made) continue;
    const auto memo = decode_run_memo(made->backend);
    ASSERT_TRUE(memo);
    const MountSteps steps = mount_steps(made->view, *memo);
    if (!steps.exposed.empty()) ++covered;
    std::vector<MountOperation> done;
    for (const auto* order : {&steps.first, &steps.exposed}) {
      for (const std::size_t index : *order) done.push_back(made->view[index]);
    }
    const ViewReplay planned(made->view);
    const ViewReplay executed(done);
    for (const std::string& name : names()) {
      if (planned.effective(name)->identity == FileIdentity{} &&
          is_host_backed(planned.effective(name)->mount_class)) {
        continue;  // an absent source, which is left out
      }
      ASSERT_EQ(*executed.effective(name), *planned.effective(name))
          << round << ' ' << name << joined(made->canonical_argv);
    }
  }
  EXPECT_GT(covered, 0U);
}

TEST(PlanPropertyTest, WhatAnAcceptedPlanProtectsIsHidden) {
  std::mt19937 random(seed());
  const Machine machine = small_world();
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Policy policy = random_policy(random);
    const auto made = plan(machine.request(policy));
    if (!made) continue;
    ++accepted;
    const ViewReplay replay(made->view);
    for (const NamedPath& hidden : machine.resolve(policy).protected_paths) {
      const MountOperation* effective = replay.effective(hidden.real);
      ASSERT_EQ(effective->mount_class, MountClass::kProtected)
          << round << ' ' << hidden.written.str() << joined(made->canonical_argv);
    }
  }
  EXPECT_GT(accepted, kRounds / 10);
}

}  // namespace
}  // namespace loom::bwrap::test
