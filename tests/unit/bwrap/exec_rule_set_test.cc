#include "backends/bwrap/exec_rule_set.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "backends/bwrap/bwrap_backend.h"
#include "backends/bwrap/stage2/landlock_calls.h"
#include "tests/support/promised.h"

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Hands out one handle after the other, each only until the next call.
class HandingHost final : public HostServices {
 public:
  explicit HandingHost(std::vector<std::string> objects) : objects_(std::move(objects)) {}

  void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
  Result<TrialResult> try_launch(const LaunchSpec& /*launch*/, std::uint32_t /*ms*/) override {
    return fail(ErrorCode::kBackend, "not here");
  }
  Result<std::int32_t> spawn(const LaunchSpec& /*launch*/) override {
    steps.emplace_back("spawn");
    if (refuses_spawn) return fail(ErrorCode::kSystem, "fork: no");
    return 100;
  }
  Result<ExecObject> next_exec_object() override {
    lent_.reset();
    if (at_ == refused_at) return fail(ErrorCode::kDenied, "exec_table_too_large: many");
    if (at_ == objects_.size()) {
      steps.emplace_back("end");
      return ExecObject{.handle = -1, .directory = false, .listed = 3, .support = 1};
    }
    steps.push_back(objects_[at_]);
    lent_.reset(::open(objects_[at_++].c_str(), O_PATH | O_CLOEXEC));
    EXPECT_TRUE(lent_);
    return ExecObject{.handle = lent_.get(), .directory = false, .listed = 0, .support = 0};
  }
  Result<std::vector<std::int32_t>> children(std::int32_t /*pid*/) override {
    return fail(ErrorCode::kBackend, "not here");
  }

  std::vector<std::string> steps;
  std::size_t refused_at = SIZE_MAX;
  bool refuses_spawn = false;

 private:
  std::vector<std::string> objects_;
  UniqueFd lent_;
  std::size_t at_ = 0;
};

LaunchSpec confined() {
  LaunchSpec launch;
  launch.wants_exec_rules = true;
  return launch;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1'024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
  return count;
}

// errno of executing `program` under the rules; 0 when it ran.
int try_to_run(int rules, const char* program) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || restrict_self(rules, 0) != 0) ::_exit(99);
    ::execl(program, program, "0", nullptr);
    ::_exit(errno);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

class ExecRuleSetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (landlock_abi() <= 0) LOOM_SKIP_UNLESS_PROMISED("no Landlock");
  }
};

TEST_F(ExecRuleSetTest, TheKernelRunsWhatItWasToldOfAndNothingElse) {
  // A dynamic program and what loads it.
  HandingHost host({"/usr/bin/true", "/usr/lib"});
  const auto made = make_exec_rule_set(host);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->entry, "exec-landlock:rules=2,listed=3,support=1");
  EXPECT_EQ(try_to_run(made->rules.get(), "/usr/bin/true"), 0);
  EXPECT_EQ(try_to_run(made->rules.get(), "/usr/bin/sleep"), EACCES);
  HandingHost both({"/usr/bin", "/usr/lib"});
  const auto wider = make_exec_rule_set(both);
  ASSERT_TRUE(wider);
  EXPECT_EQ(try_to_run(wider->rules.get(), "/usr/bin/sleep"), 0);
}

TEST_F(ExecRuleSetTest, AnEmptyTableRunsNothing) {
  HandingHost host({});
  const auto made = make_exec_rule_set(host);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->entry, "exec-landlock:rules=0,listed=3,support=1");
  EXPECT_EQ(try_to_run(made->rules.get(), "/usr/bin/true"), EACCES);
}

TEST_F(ExecRuleSetTest, TheLayerIsAboutExecutingAndRenamingOnly) {
  HandingHost host({"/usr"});
  const auto made = make_exec_rule_set(host);
  ASSERT_TRUE(made);
  const UniqueFd root(::open("/", O_PATH | O_CLOEXEC));
  EXPECT_EQ(add_path_rule(made->rules.get(), root.get(), kLandlockReadFile), -1);
  const bool refers = landlock_abi() >= 2;
  EXPECT_EQ(add_path_rule(made->rules.get(), root.get(), kLandlockRefer), refers ? 0 : -1);
}

// A rule hangs on an object of a file system; one without a name has none.
TEST_F(ExecRuleSetTest, AnObjectThatTheKernelRefusesEndsItAndIsNamed) {
  class PipeHost final : public HostServices {
   public:
    void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
    Result<TrialResult> try_launch(const LaunchSpec& /*launch*/, std::uint32_t /*ms*/) override {
      return fail(ErrorCode::kBackend, "not here");
    }
    Result<std::int32_t> spawn(const LaunchSpec& /*launch*/) override {
      ++spawned;
      return 100;
    }
    Result<ExecObject> next_exec_object() override {
      const bool first = ++asked == 1;
      return ExecObject{
          .handle = first ? STDIN_FILENO : -1, .directory = false, .listed = 0, .support = 0};
    }
    Result<std::vector<std::int32_t>> children(std::int32_t /*pid*/) override {
      return fail(ErrorCode::kBackend, "not here");
    }
    int spawned = 0;
    int asked = 0;
  };
  const UniqueFd kept(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const UniqueFd read_end(pipe[0]);
  const UniqueFd write_end(pipe[1]);
  ::dup2(read_end.get(), STDIN_FILENO);
  PipeHost host;
  const std::size_t before = open_descriptors();
  BwrapBackend backend(host);
  const auto started = backend.start(confined());
  const std::size_t after = open_descriptors();
  ::dup2(kept.get(), STDIN_FILENO);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kSystem);
  EXPECT_EQ(started.error().sys_errno, EBADFD);
  EXPECT_THAT(started.error().message, AllOf(StartsWith("exec rules: admit "), HasSubstr("pipe:")));
  EXPECT_EQ(host.spawned, 0);
  EXPECT_EQ(after, before);
}

TEST_F(ExecRuleSetTest, TheRulesAreMadeBeforeAnythingIsStartedAndGoToTheHost) {
  HandingHost host({"/usr/bin"});
  BwrapBackend backend(host);
  const auto started = backend.start(confined());
  ASSERT_TRUE(started);
  EXPECT_THAT(host.steps, ElementsAre("/usr/bin", "end", "spawn"));
  EXPECT_EQ(started->exec_entry, "exec-landlock:rules=1,listed=3,support=1");
  const UniqueFd rules(started->exec_rules);
  EXPECT_EQ(::fcntl(rules.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(ExecRuleSetTest, ARefusalOfTheHostsStartsNothingAndComesThrough) {
  HandingHost host({"/usr/bin", "/usr/lib"});
  host.refused_at = 1;
  BwrapBackend backend(host);
  const std::size_t before = open_descriptors();
  const auto started = backend.start(confined());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kDenied);
  EXPECT_THAT(started.error().message, StartsWith("exec_table_too_large"));
  EXPECT_THAT(host.steps, ElementsAre("/usr/bin"));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ExecRuleSetTest, WhereNothingStartsTheRulesAreGone) {
  HandingHost host({"/usr/bin"});
  host.refuses_spawn = true;
  BwrapBackend backend(host);
  const std::size_t before = open_descriptors();
  EXPECT_FALSE(backend.start(confined()));
  EXPECT_THAT(host.steps, ElementsAre("/usr/bin", "end", "spawn"));
  EXPECT_LE(open_descriptors(), before);
}

TEST(ExecRuleSetlessTest, ALaunchThatWantsNoRulesAsksForNone) {
  HandingHost host({"/usr/bin"});
  BwrapBackend backend(host);
  const auto started = backend.start({});
  ASSERT_TRUE(started);
  EXPECT_EQ(*started, StartResult{});
  EXPECT_THAT(host.steps, ElementsAre("spawn"));
}

}  // namespace
}  // namespace loom::bwrap::test
