// The hostile probes would be vacuous if their adversaries could not get out of a jail that lets
// them: here each runs through the very same way into a jail, with and without the three grants.
#include <gmock/gmock.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "app/self_test/hostile_probes.h"
#include "host/installation.h"
#include "tests/support/promised.h"

namespace loom::app {
namespace {

constexpr const char* kHelper = LOOM_BINARY_DIR "/bin/loom-exec";

class HostileAdversaryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("LOOM_SCRATCH_DIR") != nullptr) GTEST_SKIP() << "inside a jail of our own kind";
    // Seen from build/tests as from build/bin: the same tree.
    const auto installation = host::find_installation();
    ASSERT_TRUE(installation) << installation.error().message;
    SessionOptions options;
    options.search_path = kProbePath;
    auto session = Session::open(*installation, std::move(options), log_);
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
    auto stop = StopSignals::open();
    ASSERT_TRUE(stop);
    rig_.emplace(*session_, std::move(*stop), *AbsolutePath::parse(kHelper));
    rig_->set_base(*AbsolutePath::parse("/var/tmp"));
    if (!rig_->has("bwrap")) LOOM_SKIP_UNLESS_PROMISED(rig_->why_without("bwrap"));
    auto directory = rig_->make_directory();
    ASSERT_TRUE(directory);
    directory_.emplace(std::move(*directory));
    auto listener = LoopbackListener::open();
    ASSERT_TRUE(listener);
    listener_.emplace(std::move(*listener));
  }

  AdversaryRun run(const Adversary& adversary, Surroundings surroundings) {
    const auto ended = run_adversary(*rig_, *directory_, *listener_, adversary, surroundings);
    EXPECT_TRUE(ended) << ended.error().message;
    return ended ? *ended : AdversaryRun{};
  }

  void reaches_everything_only_where_it_may(const Adversary& adversary) {
    const AdversaryRun permissive = run(adversary, Surroundings::kPermissive);
    EXPECT_TRUE(permissive.record.loaded && permissive.record.done) << permissive.output;
    EXPECT_TRUE(permissive.record.reaches_everything()) << permissive.output;
    EXPECT_TRUE(permissive.victim_exists && permissive.secret_shown && permissive.connected);

    const AdversaryRun confined = run(adversary, Surroundings::kConfined);
    EXPECT_TRUE(confined.record.loaded && confined.record.done) << confined.output;
    EXPECT_TRUE(confined.record.does_what_is_allowed()) << confined.output;
    EXPECT_TRUE(confined.record.reaches_nothing()) << confined.output;
    EXPECT_FALSE(confined.victim_exists || confined.secret_shown || confined.connected ||
                 confined.secret_changed)
        << confined.output;
  }

  spdlog::logger log_{"test", std::make_shared<spdlog::sinks::null_sink_mt>()};
  std::unique_ptr<Session> session_;
  std::optional<ProbeRig> rig_;
  std::optional<ProbeDirectory> directory_;
  std::optional<LoopbackListener> listener_;
};

// cases.md 240
TEST_F(HostileAdversaryTest, TheErlangModuleReachesEverythingOnlyWhereItMay) {
  const auto adversary = make_hostile_module(*rig_, *directory_);
  ASSERT_TRUE(adversary) << adversary.error().message;
  if (!*adversary) LOOM_SKIP_UNLESS_PROMISED("erl or erlc is missing");
  reaches_everything_only_where_it_may(**adversary);
}

// cases.md 240
TEST_F(HostileAdversaryTest, TheNativeProgramReachesEverythingOnlyWhereItMay) {
  reaches_everything_only_where_it_may(hostile_program(*rig_));
}

}  // namespace
}  // namespace loom::app
