#include "host/control_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "control_group_support.h"
#include "host/control_group_checks.h"
#include "host/control_group_files.h"

namespace loom::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr Ceilings kBoth{.memory_bytes = 1u << 30, .pids = 256};

// An ordinary directory in the place of a base: what is decided without the kernel's help.
class ControlGroupTest : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return directory_ / name; }
  Result<ControlGroup> make(const Ceilings& ceilings = {}) const {
    return ControlGroup::make(directory_.str(), 7, 42, ceilings);
  }
  ControlGroup made() const {
    auto group = make();
    EXPECT_TRUE(group) << group.error().message;
    return std::move(group).value();
  }
  bool there(const std::string& name) const { return std::filesystem::exists(at(name)); }

  TemporaryDirectory directory_;
};

TEST_F(ControlGroupTest, TheGroupCanBeWorkedInWhateverTheHelpersCreationMaskIs) {
  const mode_t before = ::umask(0777);
  const auto group = make();
  ::umask(before);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(std::filesystem::status(group->path()).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms{0755});
}

// cases.md 144
TEST_F(ControlGroupTest, ControllersThatAreOffAreSwitchedOnAndTheGroupIsMade) {
  write_text(at("cgroup.subtree_control"), "cpu");
  const auto base = open_control_directory(directory_.str());
  ASSERT_TRUE(base);

  ASSERT_TRUE(switch_controllers_on(base->get()));
  const ControlGroup group = made();

  EXPECT_EQ(text_of(at("cgroup.subtree_control")), "+memory +pids");
  EXPECT_EQ(group.path(), at("exec-7-42"));
  EXPECT_EQ(std::filesystem::status(group.path()).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms{0755});
}

TEST_F(ControlGroupTest, ControllersThatAreOnAreNotTouched) {
  write_text(at("cgroup.subtree_control"), "cpu memory pids\n");
  const auto base = open_control_directory(directory_.str());
  ASSERT_TRUE(base);

  ASSERT_TRUE(switch_controllers_on(base->get()));

  EXPECT_EQ(text_of(at("cgroup.subtree_control")), "cpu memory pids\n");
}

// cases.md 160
TEST_F(ControlGroupTest, ABaseThatIsNoGroupAnyMoreIsNamedByTheFileAndNothingIsLeft) {
  const auto plain = make(kBoth);
  const auto missing = ControlGroup::make(at("nowhere"), 7, 42, kBoth);

  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message,
              AllOf(HasSubstr("cgroup.subtree_control"), HasSubstr("No such file")));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("cgroup.subtree_control"),
                                             HasSubstr(at("nowhere")), HasSubstr("No such file")));
  EXPECT_FALSE(there("exec-7-42"));
}

TEST_F(ControlGroupTest, ACeilingThatCannotBeWrittenIsNamedAndTheGroupRemovedAgain) {
  write_text(at("cgroup.subtree_control"), "memory pids\n");  // but no memory.max below

  const auto group = make(kBoth);

  ASSERT_FALSE(group);
  EXPECT_THAT(group.error().message, AllOf(HasSubstr("memory.max"), HasSubstr("No such file")));
  EXPECT_FALSE(there("exec-7-42"));
}

TEST_F(ControlGroupTest, AnEmptyGroupOfAnotherRunIsReplacedSoThatItsCountsAreNotOurs) {
  std::filesystem::create_directories(at("exec-7-42/nested"));

  const ControlGroup group = made();

  EXPECT_TRUE(there("exec-7-42"));
  EXPECT_FALSE(there("exec-7-42/nested"));
}

TEST_F(ControlGroupTest, UseIsWhatTheFilesSay) {
  const ControlGroup group = made();
  write_text(at("exec-7-42/memory.peak"), "123456\n");
  write_text(at("exec-7-42/memory.events"), "low 0\nhigh 0\nmax 31\noom 2\noom_kill 3\n");
  write_text(at("exec-7-42/pids.events"), "max 17\n");

  const ControlGroupUse use = group.use();

  EXPECT_THAT(use.peak_memory_bytes, Optional(123'456u));
  EXPECT_THAT(use.out_of_memory_kills, Optional(3u));
  EXPECT_THAT(use.denied_forks, Optional(17u));
}

TEST_F(ControlGroupTest, WhatTheKernelDoesNotSayIsNotMadeUp) {
  const ControlGroup group = made();
  write_text(at("exec-7-42/memory.events"), "oom");
  std::filesystem::create_directory(at("exec-7-42/pids.events"));

  const ControlGroupUse use = group.use();

  EXPECT_EQ(use.peak_memory_bytes, std::nullopt);
  EXPECT_EQ(use.out_of_memory_kills, std::nullopt);
  EXPECT_EQ(use.denied_forks, std::nullopt);
}

// cases.md 153
TEST_F(ControlGroupTest, RemovalTakesNestedGroupsAlong) {
  ControlGroup group = made();
  std::filesystem::create_directories(at("exec-7-42/a/b"));
  std::filesystem::create_directories(at("exec-7-42/c"));

  const auto gone = group.try_remove();

  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_TRUE(*gone);
  EXPECT_FALSE(there("exec-7-42"));
}

TEST_F(ControlGroupTest, RemovalNeverTakesAFile) {
  ControlGroup group = made();
  write_text(at("exec-7-42/file"), "x");

  const auto gone = group.try_remove();

  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("exec-7-42"));
  EXPECT_TRUE(there("exec-7-42/file"));
}

TEST_F(ControlGroupTest, RemovingWhatIsGoneIsASuccess) {
  ControlGroup group = made();
  ASSERT_TRUE(std::filesystem::remove(at("exec-7-42")));

  const auto gone = group.try_remove();

  ASSERT_TRUE(gone);
  EXPECT_TRUE(*gone);
}

TEST_F(ControlGroupTest, AGroupOfTheSameNameThatAnotherMadeMeanwhileIsNotRemoved) {
  ControlGroup group = made();
  ASSERT_TRUE(std::filesystem::remove(at("exec-7-42")));
  std::filesystem::create_directory(at("another"));  // so that the inode is not used again
  std::filesystem::create_directory(at("exec-7-42"));

  const auto gone = group.try_remove();

  ASSERT_TRUE(gone);
  EXPECT_TRUE(*gone);
  EXPECT_TRUE(there("exec-7-42"));
}

// A device that swallows the write and lists nobody, in the place of the kernel's file.
TEST_F(ControlGroupTest, AnEntryThatTheListDoesNotShowIsNone) {
  ControlGroup group = made();
  write_text(at("exec-7-42/cgroup.procs"), "");
  ASSERT_TRUE(group.enter(42)) << "an ordinary file lists what was written to it";
  std::filesystem::remove(at("exec-7-42/cgroup.procs"));
  const int made = ::mknod(at("exec-7-42/cgroup.procs").c_str(), S_IFCHR | 0600, makedev(1, 3));
  if (made != 0) GTEST_SKIP() << "device nodes need the superuser: " << std::strerror(errno);

  const auto entered = group.enter(42);

  ASSERT_FALSE(entered);
  EXPECT_THAT(entered.error().message, HasSubstr("cgroup.procs"));
}

TEST_F(ControlGroupTest, ALinkInThePlaceOfAFileIsNotFollowed) {
  ControlGroup group = made();
  write_text(at("victim"), "");
  std::filesystem::create_symlink(at("victim"), at("exec-7-42/cgroup.procs"));

  EXPECT_FALSE(group.enter(42));
  EXPECT_EQ(text_of(at("victim")), "");
}

class RealGroupTest : public RealControlGroupTest {
 protected:
  Result<ControlGroup> make(pid_t child, const Ceilings& ceilings = {}) const {
    return ControlGroup::make(top_, 7, child, ceilings);
  }
};

TEST_F(RealGroupTest, AChildThatEnteredIsInTheGroupAndOneThatIsGoneCannotEnter) {
  WaitingChild child;
  auto group = make(child.pid());
  ASSERT_TRUE(group) << group.error().message;

  const auto entered = group->enter(child.pid());
  ASSERT_TRUE(entered) << entered.error().message;
  const auto own = read_own_control_group("/proc/" + std::to_string(child.pid()) + "/cgroup");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_TRUE(own->ends_with("/exec-7-" + std::to_string(child.pid()))) << *own;

  const auto nobody = group->enter(std::stoi(kNobody));
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("cgroup.procs"));
}

TEST_F(RealGroupTest, KillAllEndsWhatIsInIt) {
  WaitingChild child;
  auto group = make(child.pid());
  ASSERT_TRUE(group) << group.error().message;
  ASSERT_TRUE(group->enter(child.pid()));

  group->kill_all();

  EXPECT_EQ(child.signal_of_its_end(), SIGKILL);
}

TEST_F(RealGroupTest, AGroupWithAProcessInAGroupBelowStaysUntilThatHasEnded) {
  WaitingChild child;
  auto group = make(child.pid());
  ASSERT_TRUE(group) << group.error().message;
  std::filesystem::create_directories(group->path() + "/nested/deeper");
  std::filesystem::create_directories(group->path() + "/beside");
  write_text(group->path() + "/nested/deeper/cgroup.procs", std::to_string(child.pid()));

  const auto busy = group->try_remove();
  ASSERT_TRUE(busy) << busy.error().message;
  EXPECT_FALSE(*busy);
  EXPECT_TRUE(std::filesystem::exists(group->path() + "/nested/deeper"));

  child.end();
  ASSERT_TRUE(becomes_empty(group->path()));
  const auto gone = group->try_remove();
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_TRUE(*gone);
  EXPECT_FALSE(std::filesystem::exists(group->path()));
}

TEST_F(RealGroupTest, AGroupThatAnotherRunIsInIsNotShared) {
  WaitingChild child;
  auto first = make(child.pid());
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(first->enter(child.pid()));

  const auto second = make(child.pid());

  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another run"));
  EXPECT_TRUE(std::filesystem::exists(first->path()));
}

TEST_F(RealGroupTest, AHandleOfASweptGroupEntersNoOtherOfItsName) {
  WaitingChild child;
  auto swept = make(child.pid());
  ASSERT_TRUE(swept) << swept.error().message;
  ASSERT_EQ(::rmdir(swept->path().c_str()), 0);
  auto fresh = make(child.pid());
  ASSERT_TRUE(fresh) << fresh.error().message;

  const auto entered = swept->enter(child.pid());

  ASSERT_FALSE(entered);
  EXPECT_THAT(entered.error().sys_errno, ::testing::AnyOf(ENOENT, ENODEV));
  EXPECT_TRUE(fresh->enter(child.pid()));
}

// cases.md 160
TEST_F(RealGroupTest, WhereNothingIsPassedOnTheSetUpFailsByNameAndLeavesNothing) {
  ASSERT_EQ(::mkdir(at("bare").c_str(), 0755), 0);
  WaitingChild child;

  const auto group = make_and_enter(at("bare"), 7, child.pid(), kBoth);

  ASSERT_FALSE(group);
  EXPECT_THAT(group.error().message, HasSubstr("cgroup.subtree_control"));
  EXPECT_FALSE(std::filesystem::exists(at("bare/exec-7-" + std::to_string(child.pid()))));
}

// One that removes the first empty group `name` it meets, once, and then says so.
class Sweeper {
 public:
  explicit Sweeper(const std::string& name) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (::rmdir(name.c_str()) != 0) {
    }
    ::_exit(0);
  }
  // Whether it met one.
  bool stop() const {
    int status = 0;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status);
  }

 private:
  pid_t pid_;
};

TEST_F(RealGroupTest, AGroupThatIsSweptBeforeTheEntryIsMadeAgain) {
  int met = 0;
  for (int round = 0; round < 500 && met < 10; ++round) {
    WaitingChild child;
    const Sweeper sweeper(at("exec-7-" + std::to_string(child.pid())));
    auto group = make_and_enter(top_, 7, child.pid(), {});
    met += sweeper.stop() ? 1 : 0;

    ASSERT_TRUE(group) << group.error().message;
    EXPECT_TRUE(std::filesystem::exists(group->path()));
    child.end();
    ASSERT_TRUE(becomes_empty(group->path()));
    ASSERT_TRUE(group->try_remove());
  }
  EXPECT_GT(met, 0) << "the sweeper was never in time: nothing was shown";
}

// The ceilings themselves, where the machine passes the controllers on.
class RealCeilingTest : public RealGroupTest {
 protected:
  void SetUp() override {
    RealGroupTest::SetUp();
    if (top_.empty() || ::testing::Test::HasFatalFailure()) return;
    const std::string objection = controllers_objection(top_);
    if (!objection.empty()) GTEST_SKIP() << objection;
  }

  // Runs `action` in a child inside a fresh group with these ceilings, and gives the use.
  template <class Action>
  ControlGroupUse use_of(const Ceilings& ceilings, int& status, const Action& action) {
    return use_below(top_, ceilings, status, action);
  }

  template <class Action>
  static ControlGroupUse use_below(const std::string& base, const Ceilings& ceilings, int& status,
                                   const Action& action) {
    Pipe gate = make_pipe();
    const pid_t pid = ::fork();
    if (pid == 0) {
      gate.write.reset();
      static_cast<void>(read_text(gate.read.get()));
      ::_exit(action());
    }
    auto group = make_and_enter(base, 7, pid, ceilings);
    EXPECT_TRUE(group) << group.error().message;
    gate.write.reset();
    ::waitpid(pid, &status, 0);
    if (!group) return {};
    const ControlGroupUse use = group->use();
    EXPECT_TRUE(becomes_empty(group->path()));
    const auto gone = group->try_remove();
    EXPECT_TRUE(gone && *gone);
    return use;
  }
};

TEST_F(RealCeilingTest, TheKernelShowsWhatWasWritten) {
  auto group = make(42, {.memory_bytes = 1u << 30, .pids = 256});
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(text_of(group->path() + "/memory.max"), "1073741824\n");
  EXPECT_EQ(text_of(group->path() + "/pids.max"), "256\n");
  if (std::filesystem::exists(group->path() + "/memory.swap.max")) {
    EXPECT_EQ(text_of(group->path() + "/memory.swap.max"), "0\n");
  }
}

TEST_F(RealCeilingTest, ACeilingBeyondTheKernelsNumbersIsNoFailure) {
  for (const std::uint64_t ceiling :
       {std::uint64_t{4'194'304}, std::uint64_t{4'194'305}, std::uint64_t{1} << 63, UINT64_MAX}) {
    const auto group = make(42, {.memory_bytes = 1u << 30, .pids = ceiling});
    EXPECT_TRUE(group) << ceiling << ": " << group.error().message;
    const auto bytes = make(42, {.memory_bytes = ceiling});
    EXPECT_TRUE(bytes) << ceiling << ": " << bytes.error().message;
  }
}

// cases.md 159
TEST_F(RealCeilingTest, ForksBeyondTheCeilingAreDeniedAndCounted) {
  int status = -1;
  const ControlGroupUse use = use_of({.pids = 8}, status, [] {
    int denied = 0;
    for (int i = 0; i < 16; ++i) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::usleep(300'000);
        ::_exit(0);
      }
      denied += pid < 0 ? 1 : 0;
    }
    while (::wait(nullptr) > 0) {
    }
    return denied;
  });

  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);  // one of the eight is the process that forks
  EXPECT_THAT(use.denied_forks, Optional(9u));
}

int touch_memory(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  std::memset(memory, 7, bytes);
  return 0;
}

TEST_F(RealCeilingTest, MemoryBeyondTheCeilingIsAKillThatIsCountedAndLessIsNone) {
  constexpr Ceilings kCeiling{.memory_bytes = 64u << 20};
  int status = -1;
  const auto little = use_of(kCeiling, status, [] { return touch_memory(8u << 20); });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(little.out_of_memory_kills, Optional(0u));

  const auto much = use_of(kCeiling, status, [] { return touch_memory(256u << 20); });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(much.out_of_memory_kills, Optional(1u));
  EXPECT_LE(much.peak_memory_bytes.value_or(0), 64u << 20);
}

TEST_F(RealCeilingTest, AKillAtTheCeilingOfAGroupAboveIsNotTheRuns) {
  write_text(at("cgroup.subtree_control"), "+memory +pids");
  ASSERT_EQ(::mkdir(at("base").c_str(), 0755), 0);
  write_text(at("base/memory.max"), "33554432");
  int status = -1;

  const auto use = use_below(at("base"), {.memory_bytes = 1u << 30}, status,
                             [] { return touch_memory(64u << 20); });

  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(use.out_of_memory_kills, Optional(0u));
}

}  // namespace
}  // namespace loom::host
