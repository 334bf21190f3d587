#include "backends/bwrap/mount_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "machine.h"
#include "tests/support/golden.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::map<int, LentHandle> sources_of(const LaunchSpec& launch) {
  std::map<int, LentHandle> sources;
  for (const LentHandle& handle : launch.handles) {
    if (handle.role == LentHandle::Role::kSource) sources.emplace(handle.child_number, handle);
  }
  return sources;
}

// The sources by the destination that the executed options give them.
std::map<std::string, LentHandle> sources_by_place(const Machine& machine, const Policy& policy) {
  const auto sources = sources_of(launch_of(machine, policy));
  const auto words = executed_of(machine, policy);
  std::map<std::string, LentHandle> places;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "--bind-fd" && words[i] != "--ro-bind-fd") continue;
    const auto source = sources.find(std::stoi(words[i + 1]));
    EXPECT_NE(source, sources.end()) << words[i + 1];
    if (source != sources.end()) places.emplace(words[i + 2], source->second);
  }
  return places;
}

Machine handy_machine() {
  Machine machine = base_machine();
  machine.directory("/work/a").directory("/work/a/r").file("/work/a/key").by_handle();
  return machine;
}

TEST(MountStepsTest, EverySourceIsLentUnderANumberOfItsOwn) {
  const LaunchSpec launch = launch_of(handy_machine(), base_policy());
  const std::set<int> taken = {0, 1, 2, 3, 4, 5, 6, 10, 11};
  std::set<int> numbers;
  for (const LentHandle& handle : launch.handles) {
    EXPECT_TRUE(numbers.insert(handle.child_number).second) << handle.child_number;
    if (handle.role == LentHandle::Role::kSource) {
      EXPECT_GE(handle.child_number, 12);
      EXPECT_FALSE(taken.contains(handle.child_number));
    }
  }
  // The system roots, /opt/tools and /work.
  EXPECT_EQ(sources_of(launch).size(), 16U);
  EXPECT_THAT(launch.handles, Contains(LentHandle{.role = LentHandle::Role::kSource,
                                                  .child_number = 27,
                                                  .path = path("/work"),
                                                  .identity = identity_of("/work")}));
  EXPECT_THAT(sources_of(launch_of(base_machine(), base_policy())), IsEmpty());
}

TEST(MountStepsTest, ASystemRootThatIsALinkIsLentAsWhatItLeadsTo) {
  Machine machine = handy_machine();
  machine.linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  machine.directory("/usr/bin")
      .linked("/bin", "/usr/bin", {{.place = path("/bin"), .target = "usr/bin"}});
  const auto places = sources_by_place(machine, base_policy());
  ASSERT_TRUE(places.contains("/bin"));
  EXPECT_EQ(places.at("/bin").path.str(), "/usr/bin");
  EXPECT_EQ(places.at("/bin").identity, identity_of("/usr/bin"));
  EXPECT_EQ(places.at("/etc").path.str(), "/etc");
}

TEST(MountStepsTest, AbsentSourcesAreNeitherLentNorMounted) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/opt/maybe-missing"});
  policy.mounts = {mount("/srv/gone", true, false)};
  Machine machine = handy_machine();
  machine.missing("/nix/store", ENOENT);
  const auto places = sources_by_place(machine, policy);
  EXPECT_EQ(places.size(), 15U);
  EXPECT_FALSE(places.contains("/nix/store"));
  const std::string text = joined(executed_of(machine, policy));
  EXPECT_THAT(text, Not(HasSubstr("missing")));
  EXPECT_THAT(text, Not(HasSubstr("/srv/gone")));
  EXPECT_THAT(text, Not(HasSubstr("-try /opt/tools")));
}

TEST(MountStepsTest, TheCanonicalFormKnowsNothingOfIt) {
  const JailPlan by_name = plan_of(base_machine(), base_policy());
  Machine machine = base_machine();
  machine.by_handle();
  const JailPlan by_handle = plan_of(machine, base_policy());
  EXPECT_EQ(by_handle.canonical_argv, by_name.canonical_argv);
  EXPECT_EQ(by_handle.digest, by_name.digest);
  const auto judged = audit(by_handle);
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->extras, Contains("mounts-by=handle"));
  EXPECT_THAT(judged->extras, Not(Contains("mounts-by=name")));
}

TEST(MountStepsTest, WhatLiesInAWritableRegionIsMountedLastAndBehindACover) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/work/a/r"});
  policy.protected_paths = paths({"/work/.git", "/work/a/key", "/home/u/.ssh"});
  const auto words = executed_of(handy_machine(), policy);
  const std::string text = joined(words);
  const std::size_t cover = text.find(" --tmpfs /../oldroot --ro-bind-try ");
  ASSERT_NE(cover, std::string::npos);
  for (const char* before : {"-fd 12 /bin ", " --dev /dev ", " --proc /proc ", " /work --",
                             " --tmpfs /home/u/.ssh ", " --tmpfs /tmp "}) {
    ASSERT_THAT(text, HasSubstr(before));
    EXPECT_LT(text.find(before), cover) << before;
  }
  for (const char* behind : {" --bind-try /../loom-exec-sources/28 /../loom-exec-places/",
                             " --ro-bind-try /../loom-exec-sources/29 /../loom-exec-places/",
                             " --ro-bind-try /../loom-exec-sources/null /../loom-exec-places/",
                             " --symlink /newroot/work/.git /../loom-exec-places/"}) {
    ASSERT_THAT(text, HasSubstr(behind));
    EXPECT_GT(text.find(behind), cover) << behind;
  }
  EXPECT_THAT(text, HasSubstr(" --bind-fd 28 /../loom-exec-sources/28 "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind-fd 29 /../loom-exec-sources/29 "));
  EXPECT_EQ(sources_by_place(handy_machine(), policy).at("/../loom-exec-sources/28").path.str(),
            "/work/a");
}

TEST(MountStepsTest, WithoutAnythingInAWritableRegionThereIsNoCover) {
  Policy policy = base_policy();
  policy.protected_paths = paths({"/home/u/.ssh"});
  EXPECT_THAT(joined(executed_of(handy_machine(), policy)), Not(HasSubstr("oldroot")));
  policy.writable_roots = paths({"/", "/work"});
  policy.protected_paths = paths({"/work/.git"});
  Machine machine = handy_machine();
  machine.directory("/");
  EXPECT_THAT(joined(executed_of(machine, policy)), Not(HasSubstr("oldroot")));
  // By name nothing could be laid aside.
  EXPECT_THAT(joined(executed_of(base_machine(), base_policy())), Not(HasSubstr("oldroot")));
  EXPECT_THAT(joined(executed_of(handy_machine(), base_policy())), HasSubstr("oldroot"));
}

TEST(MountStepsTest, ALauncherThatCannotCoverTheHostMountsInTheViewsOrderAndSaysSo) {
  auto kernel = decode_kernel_facts(handy_machine().facts(base_policy()).backend);
  ASSERT_TRUE(kernel);
  kernel->launcher.no_cover = "odd words";
  Machine machine = handy_machine();
  machine.kernel(*kernel);
  const std::string text = joined(executed_of(machine, base_policy()));
  EXPECT_THAT(text, Not(HasSubstr("oldroot")));
  EXPECT_THAT(text, HasSubstr(" --bind-fd 27 /work --dev /dev "));
  EXPECT_THAT(text, HasSubstr(" --ro-bind /dev/null /work/.env "));
  const auto judged = audit(plan_of(machine, base_policy()));
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->extras, Contains("unheld:mount-points=odd words"));
  const auto whole = audit(plan_of(handy_machine(), base_policy()));
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->extras, Not(Contains(HasSubstr("mount-points"))));
}

TEST(MountStepsTest, WhatCoversSomethingThatIsPutOffIsPutOffToo) {
  Machine machine = handy_machine();
  machine.directory("/srv").directory("/srv/in");
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/srv/in/w"});
  policy.readable_roots = paths({"/srv/in/w/r"});
  machine.directory("/srv/in/w").directory("/srv/in/w/r");
  policy.mounts = {mount("/srv", true, true)};
  const std::string text = joined(executed_of(machine, policy));
  const std::size_t inner = text.rfind(" /newroot/srv/in/w/r ");
  ASSERT_NE(inner, std::string::npos);
  EXPECT_GT(text.rfind(" /srv "), inner) << text;
}

TEST(MountStepsTest, EveryOperationIsCarriedOutOnce) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/work/a/r", "/opt/none"});
  policy.protected_paths = paths({"/work/.git", "/work/a/key", "/home/u/.ssh"});
  const JailPlan plan = plan_of(handy_machine(), policy);
  const auto memo = decode_run_memo(plan.backend);
  ASSERT_TRUE(memo);
  const MountSteps steps = mount_steps(plan.view, *memo);
  std::set<std::size_t> seen(steps.first.begin(), steps.first.end());
  seen.insert(steps.exposed.begin(), steps.exposed.end());
  EXPECT_EQ(seen.size(), steps.first.size() + steps.exposed.size());
  EXPECT_EQ(seen.size(), plan.view.size() - memo->dropped.size());
  EXPECT_TRUE(std::is_sorted(steps.first.begin(), steps.first.end()));
  EXPECT_TRUE(std::is_sorted(steps.exposed.begin(), steps.exposed.end()));
}

TEST(MountStepsTest, WhatIsLaidAsideCountsAgainstTheLimitOfArguments) {
  const auto policy_with = [](Machine& machine, int roots) {
    Policy policy = empty_policy();
    policy.writable_roots = paths({"/work"});
    for (int i = 0; i < roots; ++i) {
      const std::string at = "/work/r" + std::to_string(i);
      machine.directory(at);
      policy.readable_roots.push_back(path(at));
    }
    return policy;
  };
  Machine by_name = base_machine();
  Machine by_handle = base_machine();
  by_handle.by_handle();
  EXPECT_FALSE(plan_of(by_name, policy_with(by_name, 2'000)).view.empty());
  EXPECT_THAT(refusal_of(by_handle, policy_with(by_handle, 2'000)), HasSubstr("8900"));
  EXPECT_FALSE(plan_of(by_handle, policy_with(by_handle, 1'400)).view.empty());
}

// Which of the words that mount something at a place of ours lead to `path`.
std::vector<std::string> mounted_by_link(const std::vector<std::string>& words,
                                         const std::string& path) {
  const auto link = std::find(words.begin(), words.end(), "/newroot" + path);
  if (link == words.begin() || words.end() - link < 2 || *(link - 1) != "--symlink") return {};
  std::vector<std::string> options;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == link[1] && &words[i] != &link[1]) options.push_back(words[i - 1]);
  }
  return options;
}

TEST(MountStepsTest, BubblewrapIsLedToDirectoriesThatItMustNotMake) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/work/a/r"});
  policy.protected_paths = paths({"/work/.git", "/work/a/key", "/home/u/.ssh"});
  const auto words = executed_of(handy_machine(), policy);
  EXPECT_THAT(mounted_by_link(words, "/work/.git"), ElementsAre("--tmpfs", "--remount-ro"));
  // A pin, and a root.
  EXPECT_THAT(mounted_by_link(words, "/work/a"), ElementsAre("/../loom-exec-sources/28"));
  EXPECT_THAT(mounted_by_link(words, "/work/a/r"), ElementsAre("/../loom-exec-sources/29"));
  // creat(2) goes through a link, so for a file the link is that of the directory, here a pin's.
  EXPECT_THAT(mounted_by_link(words, "/work/a/key"), IsEmpty());
  EXPECT_THAT(joined(words), HasSubstr("/a/key "));
  EXPECT_THAT(joined(words), Not(HasSubstr(" /work/a/key ")));
  // Outside what the command can write bubblewrap makes its mount points on ground of the jail's.
  EXPECT_THAT(mounted_by_link(words, "/home/u/.ssh"), IsEmpty());
  EXPECT_THAT(mounted_by_link(words, "/work"), IsEmpty());
}

TEST(MountStepsTest, ALinkIsNamedSoThatBubblewrapsWordsTellWhatIsMissing) {
  Policy policy = base_policy();
  policy.protected_paths = paths({"/work/.git"});
  const auto words = executed_of(handy_machine(), policy);
  const auto link = std::find(words.begin(), words.end(), "/newroot/work/.git");
  ASSERT_NE(link, words.end());
  EXPECT_THAT(link[1], testing::EndsWith("/.git"));
}

TEST(MountStepsTest, WhatHasToBeMadeInATmpfsIsNotLedTo) {
  Machine machine = handy_machine();
  machine.directory("/srv").directory("/srv/in").directory("/srv/in/w").directory("/srv/in/w/r");
  Policy policy = empty_policy();
  policy.writable_roots = paths({"/srv/in/w"});
  policy.readable_roots = paths({"/srv/in/w/r"});
  policy.mounts = {mount("/srv", true, true)};
  const auto words = executed_of(machine, policy);
  // Put off because it covers what was put off; it lies on the jail's own root.
  EXPECT_THAT(mounted_by_link(words, "/srv"), IsEmpty());
  EXPECT_THAT(words, Contains("/srv"));
}

TEST(MountStepsTest, LinksAreLeftOutBeforeAPolicyIsRefused) {
  const auto words_of = [](int directories) {
    Machine machine = base_machine();
    machine.by_handle();
    Policy policy = empty_policy();
    policy.writable_roots = paths({"/work"});
    for (int i = 0; i < directories; ++i) {
      const std::string at = "/work/p" + std::to_string(i);
      machine.directory(at);
      policy.protected_paths.push_back(path(at));
    }
    return executed_of(machine, policy);
  };
  const auto few = words_of(1'200);
  EXPECT_EQ(std::count(few.begin(), few.end(), "--symlink"), 1'200);
  const auto many = words_of(1'400);
  EXPECT_EQ(std::count(many.begin(), many.end(), "--symlink"), 0);
  EXPECT_EQ(std::count(many.begin(), many.end(), "--remount-ro"), 1'401);
  EXPECT_LT(few.size(), 9'000U);
  EXPECT_LT(many.size(), 9'000U);
}

TEST(MountStepsGoldenTest, ExecutedOptionsByHandle) {
  Policy policy = base_policy();
  policy.readable_roots = paths({"/opt/tools", "/work/a/r"});
  policy.protected_paths = paths({"/work/.git", "/work/a/key"});
  loom::test::expect_golden(executed_of(handy_machine(), policy), "bwrap/by_handle_executed.argv");
}

}  // namespace
}  // namespace loom::bwrap::test
