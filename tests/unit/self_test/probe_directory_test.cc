#include "app/self_test/probe_directory.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "app/self_test/process_search.h"
#include "app/self_test/reachable_helper.h"
#include "app/self_test/run_unjailed.h"

namespace loom::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

TEST(ProbeDirectoryTest, IsNobodyElsesAndGoneAfterwardsWithAllThatIsInIt) {
  std::string name;
  {
    const auto directory = ProbeDirectory::make(path(::testing::TempDir()));
    ASSERT_TRUE(directory);
    name = directory->path().str();
    struct stat info {};
    ASSERT_EQ(::stat(name.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777u, 0700u);
    EXPECT_THAT(std::string(directory->path().name()), StartsWith("loom-selftest-"));
    ASSERT_TRUE(directory->add_directories({"vault"}));
    ASSERT_TRUE(directory->write("vault/secret", "bytes"));
    ASSERT_EQ(::stat((name + "/vault/secret").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777u, 0600u);
  }
  EXPECT_FALSE(std::filesystem::exists(name));
}

TEST(ProbeDirectoryTest, WhatIsWrittenIsReadAndWhatIsAbsentIsNot) {
  const auto directory = ProbeDirectory::make(path(::testing::TempDir()));
  ASSERT_TRUE(directory);
  ASSERT_TRUE(directory->write("file", "bytes"));

  EXPECT_EQ(directory->read("file"), "bytes");
  EXPECT_EQ(directory->size("file"), 5u);
  EXPECT_TRUE(directory->has("file"));
  EXPECT_EQ(directory->read("absent"), std::nullopt);
  EXPECT_EQ(directory->size("absent"), std::nullopt);
  EXPECT_FALSE(directory->has("absent"));
}

TEST(ProbeDirectoryTest, APlaceThatIsNotThereIsAnErrorWithItsReason) {
  const auto directory = ProbeDirectory::make(path("/nonexistent/place"));

  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().sys_errno, ENOENT);
  EXPECT_THAT(directory.error().message, HasSubstr("/nonexistent/place"));
}

TEST(ProbeMarkerTest, NoTwoMarkersAreAlike) {
  const auto one = make_marker("x");
  const auto other = make_marker("x");

  ASSERT_TRUE(one && other);
  EXPECT_THAT(*one, StartsWith("loom-probe-x-"));
  EXPECT_NE(*one, *other);
}

TEST(ReachableHelperTest, AClosedDirectoryOnTheWayIsFoundWhoeverLooks) {
  const auto directory = ProbeDirectory::make(path(::testing::TempDir()));
  ASSERT_TRUE(directory);
  ASSERT_TRUE(directory->add_directories({"closed", "closed/below"}));
  const AbsolutePath program = directory->at("closed/below/program");
  const std::string closed = directory->at("closed").str();

  EXPECT_TRUE(is_reachable_without_privilege(program));
  ASSERT_EQ(::chmod(closed.c_str(), 0600), 0);
  EXPECT_FALSE(is_reachable_without_privilege(program));
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
}

class PlainRunTest : public ::testing::Test {
 protected:
  Result<PlainRun> run(const char* script, std::chrono::seconds limit = std::chrono::seconds(60)) {
    auto stop = StopSignals::open();
    if (!stop) return tl::unexpected(stop.error());
    return run_unjailed({.argv = {"/bin/sh", "-c", script, "loom-plain-run-test"}, .limit = limit},
                        *stop);
  }
};

TEST_F(PlainRunTest, BothStreamsAndTheStatusComeBack) {
  const auto ended = run("echo out; echo err >&2; cat; echo $PATH; exit 3");

  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->out, std::string("out\n") + kProbePath + "\n");
  EXPECT_EQ(ended->err, "err\n");
  EXPECT_EQ(ended->code, 3);
  EXPECT_FALSE(ended->timed_out);
}

TEST_F(PlainRunTest, WhatTakesTooLongIsKilledWithItsGroup) {
  const auto ended = run("echo begun; sleep 30; :", std::chrono::seconds(1));

  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->out, "begun\n");
  EXPECT_TRUE(ended->timed_out);
  EXPECT_EQ(ended->code, 128 + 9);
  EXPECT_THAT(find_processes("loom-plain-run-test"), IsEmpty());
}

TEST_F(PlainRunTest, AProgramThatIsNotThereIsAnError) {
  auto stop = StopSignals::open();
  ASSERT_TRUE(stop);
  const auto ended = run_unjailed({.argv = {"/nonexistent/program"}}, *stop);

  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("/nonexistent/program"));
}

TEST(ProcessSearchTest, FindsAnotherProcessByAWordAndNeverItself) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", "sleep 30; :", "loom-process-search-test", nullptr);
    ::_exit(1);
  }
  auto stop = StopSignals::open();
  ASSERT_TRUE(stop);

  EXPECT_TRUE(process_appears("loom-process-search-test", *stop));
  EXPECT_THAT(find_processes("loom-process-search-test"), Contains(child));
  EXPECT_THAT(find_processes("probe_directory_test"), Not(Contains(::getpid())));
  ::kill(child, SIGKILL);
  EXPECT_TRUE(processes_vanish("loom-process-search-test", *stop));
}

}  // namespace
}  // namespace loom::app
