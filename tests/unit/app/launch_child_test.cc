#include "app/launch_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace loom::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kSource = 40;

// A directory with a file in it, which a shell is to see behind a descriptor of its own.
class LentSource : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string place = "/var/tmp/loom-lent-XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    place_ = place;
    make_directory("source", "judged");
    make_directory("other", "evil");
    shell_.reset(::open("/bin/sh", O_PATH | O_CLOEXEC));
    ASSERT_TRUE(shell_);
  }
  void TearDown() override { std::filesystem::remove_all(place_); }

  void make_directory(const std::string& name, const std::string& file) const {
    ASSERT_EQ(::mkdir((place_ + "/" + name).c_str(), 0755), 0);
    std::ofstream(place_ + "/" + name + "/" + file) << "x\n";
  }

  [[nodiscard]] AbsolutePath path(const std::string& name) const {
    return *AbsolutePath::parse(place_ + "/" + name);
  }

  [[nodiscard]] FileIdentity identity(const std::string& name) const {
    struct stat about {};
    EXPECT_EQ(::stat(path(name).str().c_str(), &about), 0);
    return {.device = about.st_dev, .inode = about.st_ino};
  }

  // The names behind each of `numbers`.
  [[nodiscard]] static LaunchSpec listing(const std::string& numbers) {
    LaunchSpec launch;
    launch.image = ImageKind::kLauncher;
    launch.argv = {"sh", "-c", "for n in " + numbers + "; do ls /proc/self/fd/$n/; done"};
    launch.environment = {"PATH=/usr/bin:/bin"};
    return launch;
  }

  [[nodiscard]] LentHandle lent(const std::string& name, int number) const {
    return {.role = LentHandle::Role::kSource,
            .child_number = number,
            .path = path(name),
            .identity = identity(name)};
  }

  [[nodiscard]] std::string output_of(const LaunchSpec& launch) const {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    host::MemoryFiles files;
    auto child =
        launch_child(launch, {.in = nothing.get(), .out = writing.get(), .err = nothing.get()},
                     {.launcher = shell_.get()}, files);
    EXPECT_TRUE(child.has_value()) << (child ? "" : child.error().message);
    writing.reset();
    std::string text;
    char buffer[256];
    for (ssize_t got = 0; (got = ::read(reading.get(), buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    if (child) ::waitpid(child->pid, nullptr, 0);
    return text;
  }

  // Why nothing was started.
  [[nodiscard]] std::string refusal_of(const LaunchSpec& launch) const {
    const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    host::MemoryFiles files;
    const auto child =
        launch_child(launch, {.in = nothing.get(), .out = nothing.get(), .err = nothing.get()},
                     {.launcher = shell_.get()}, files);
    EXPECT_FALSE(child.has_value());
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    return child ? std::string() : child.error().message;
  }

  std::string place_;
  UniqueFd shell_;
};

TEST_F(LentSource, TheChildHasTheObjectUnderItsNumber) {
  LaunchSpec launch = listing("40 41 900");
  launch.handles = {lent("source", kSource), lent("other", 41), lent("source", 900)};
  EXPECT_EQ(output_of(launch), "judged\nevil\njudged\n");
}

// guard 9.7: 129
TEST_F(LentSource, AnotherObjectUnderTheNameIsRefusedAndNothingIsStarted) {
  LaunchSpec launch = listing("40");
  launch.handles = {lent("other", 39), lent("source", kSource)};
  ASSERT_EQ(::rename(path("source").str().c_str(), path("moved").str().c_str()), 0);
  EXPECT_THAT(refusal_of(launch),
              AllOf(StartsWith("redirected: "), HasSubstr(path("source").str())));
  make_directory("source", "evil");
  EXPECT_THAT(refusal_of(launch),
              AllOf(StartsWith("redirected: "), HasSubstr(path("source").str())));
  launch.handles.back().identity = identity("source");
  EXPECT_EQ(output_of(launch), "evil\n");
}

TEST_F(LentSource, ALinkAtTheNameOrAboveIsRefusedThoughItLeadsToTheSameObject) {
  LaunchSpec launch = listing("40");
  launch.handles = {lent("source", kSource)};
  ASSERT_EQ(::symlink(path("source").str().c_str(), path("link").str().c_str()), 0);
  ASSERT_EQ(::symlink(place_.c_str(), path("up").str().c_str()), 0);
  for (const char* name : {"link", "up/source"}) {
    launch.handles.front().path = path(name);
    EXPECT_THAT(refusal_of(launch), AllOf(StartsWith("redirected: "), HasSubstr(path(name).str())));
  }
}

TEST_F(LentSource, MoreSourcesThanDescriptorsAreRefusedWithTheLimit) {
  LaunchSpec launch = listing("40");
  for (int i = 0; i < 100; ++i) launch.handles.push_back(lent("source", kSource + i));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 200;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THAT(refusal_of(launch), AllOf(HasSubstr("100 mounts"), HasSubstr("200")));
  launch.handles.resize(10);
  EXPECT_EQ(output_of(launch), "judged\n");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace loom::app
