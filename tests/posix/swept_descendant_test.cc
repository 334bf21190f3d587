#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>

#include "app/execution.h"
#include "app/session.h"

namespace loom::app {
namespace {

// What settling tells of descendants that left the group: the backend of watching_backend.cc saw
// them.
class SweptDescendantTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loom-swept-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    place_ = std::filesystem::canonical(name).string();
    SessionOptions options;
    options.backend = LOOM_WATCHING_BACKEND;
    options.search_path = "/usr/bin:/bin";
    auto session = Session::open(host::Installation{}, std::move(options), log_);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }
  void TearDown() override { std::filesystem::remove_all(place_); }

  ExecResult run(const std::string& script) {
    RunRequest request{
        .argv = {"/bin/sh", "-c", script}, .environment = {}, .cwd = {}, .policy = {}};
    request.policy.writable_roots = {AbsolutePath::parse(place_).value()};
    auto prepared = prepare_run(*session_, std::move(request));
    EXPECT_TRUE(prepared);
    std::optional<ExecResult> result;
    ExecutionEvents events{.on_output = [](Stream, ByteView, std::uint64_t, bool) {},
                           .on_stdin_room = [] {},
                           .on_exit = [&result](ExecResult ended) { result = std::move(ended); }};
    auto execution = Execution::start(loop_, *session_, std::move(*prepared), std::move(events));
    EXPECT_TRUE(execution);
    while (execution && !result) EXPECT_TRUE(loop_.run_once());
    return std::move(result).value_or(ExecResult());
  }

  spdlog::logger log_{"test", std::make_shared<spdlog::sinks::null_sink_st>()};
  std::string place_;
  host::EventLoop loop_;
  std::unique_ptr<Session> session_;
};

TEST_F(SweptDescendantTest, IsToldOfOneThatLeftTheGroup) {
  const ExecResult result = run("setsid sleep 600 >/dev/null 2>&1 & sleep 0.3; exit 3");

  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(result.swept_descendant);
}

TEST_F(SweptDescendantTest, IsNotToldOfChildrenThatEndedBefore) {
  const ExecResult result = run("sleep 0.1; setsid sleep 0.1; exit 4");

  EXPECT_EQ(result.code, 4);
  EXPECT_FALSE(result.swept_descendant);
}

}  // namespace
}  // namespace loom::app
