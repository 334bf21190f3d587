#include "host/name_watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "process_support.h"

namespace loom::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NameWatchTest : public ::testing::Test {
 protected:
  NameWatchTest() {
    std::filesystem::create_directories(at("deep/er"));
    for (const char* name : {"secret", "decoy", "other", "deep/er/secret"}) {
      std::ofstream(at(name)) << name;
    }
  }

  std::string at(const std::string& name) const { return directory_ / name; }
  AbsolutePath path(const std::string& name) const { return *AbsolutePath::parse(at(name)); }

  void exchange(const std::string& one, const std::string& two) const {
    constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
    ASSERT_EQ(
        ::syscall(SYS_renameat2, AT_FDCWD, at(one).c_str(), AT_FDCWD, at(two).c_str(), kExchange),
        0);
  }

  TemporaryDirectory directory_;
  NameQueues queues_;
};

TEST_F(NameWatchTest, AnExchangeThereAndBackIsNoticed) {
  auto watch = NameWatch::open({path("secret"), path("other")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_THAT(watch->changed(), IsEmpty());

  exchange("secret", "decoy");
  exchange("secret", "decoy");

  EXPECT_THAT(watch->changed(), ElementsAre(path("secret")));
}

TEST_F(NameWatchTest, ADirectoryOnTheWayCountsForWhatLiesBelow) {
  std::filesystem::create_directory(at("deep2"));
  auto watch = NameWatch::open({path("deep/er/secret"), path("secret")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;

  exchange("deep", "deep2");

  EXPECT_THAT(watch->changed(), ElementsAre(path("deep/er/secret")));
}

TEST_F(NameWatchTest, ALinkOnTheWayIsWatchedAndSoIsWhereItLeads) {
  std::filesystem::create_directory_symlink("deep", at("alias"));
  std::filesystem::create_directory_symlink("elsewhere", at("alias2"));
  auto watch = NameWatch::open({path("alias/er/secret")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_THAT(watch->changed(), IsEmpty());

  std::filesystem::rename(at("deep/er/secret"), at("deep/er/gone"));
  EXPECT_THAT(watch->changed(), ElementsAre(path("alias/er/secret")));

  auto later = NameWatch::open({path("alias/er/secret")}, queues_);
  ASSERT_TRUE(later) << later.error().message;
  exchange("alias", "alias2");
  EXPECT_THAT(later->changed(), ElementsAre(path("alias/er/secret")));
}

TEST_F(NameWatchTest, ManyNamesInOneDirectoryAreToldApart) {
  std::vector<AbsolutePath> paths;
  for (int i = 0; i < 300; ++i) paths.push_back(path("deep/er/n" + std::to_string(i)));
  auto watch = NameWatch::open(paths, queues_);
  ASSERT_TRUE(watch) << watch.error().message;

  std::ofstream(at("deep/er/n7")) << "made";

  EXPECT_THAT(watch->changed(), ElementsAre(path("deep/er/n7")));
}

TEST_F(NameWatchTest, WritingToAFileIsNoChangeOfItsName) {
  auto watch = NameWatch::open({path("secret")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;

  std::ofstream(at("secret")) << "more";
  std::ofstream(at("new")) << "another name";

  EXPECT_THAT(watch->changed(), IsEmpty());
}

// The superuser may list whatever it likes, so for a moment this is somebody else.
class Ordinary {
 public:
  Ordinary() : before_(::geteuid()) {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  ~Ordinary() {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  Ordinary(const Ordinary&) = delete;
  Ordinary& operator=(const Ordinary&) = delete;
  Ordinary(Ordinary&&) = delete;
  Ordinary& operator=(Ordinary&&) = delete;

  static void give(const std::string& path) {
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  }

 private:
  static constexpr uid_t kNobody = 65'534;
  uid_t before_;
};

TEST_F(NameWatchTest, WhatLiesInADirectoryThatCannotBeListedIsUnseen) {
  std::filesystem::permissions(directory_.str(), std::filesystem::perms{0711});
  Ordinary::give(at("deep/er"));
  std::filesystem::permissions(at("deep/er"), std::filesystem::perms{0311});
  {
    const Ordinary user;
    const auto watch = NameWatch::open(
        {path("deep/er/secret"), path("deep/er/other"), path("deep/er/sub/name"), path("deep/x")},
        queues_);
    ASSERT_TRUE(watch) << watch.error().message;
    // The reason: its names lead on all the same.
    EXPECT_TRUE(std::filesystem::exists(at("deep/er/secret")));
    EXPECT_THAT(watch->unseen(), ElementsAre(path("deep/er/other"), path("deep/er/secret"),
                                             path("deep/er/sub/name")));
  }
  // Its owner can give himself the right. What is somebody else's (/home, at times) nobody of ours
  // changes.
  std::filesystem::permissions(at("deep/er"), std::filesystem::perms{0111});
  {
    const Ordinary user;
    EXPECT_THAT(NameWatch::open({path("deep/er/secret")}, queues_)->unseen(),
                ElementsAre(path("deep/er/secret")));
  }
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(at("deep/er").c_str(), 0, 0), 0);
  const Ordinary user;
  EXPECT_THAT(NameWatch::open({path("deep/er/secret")}, queues_)->unseen(), IsEmpty());
}

TEST_F(NameWatchTest, AQueueThatIsUsedAgainTellsNothingOfBefore) {
  int first = -1;
  {
    auto watch = NameWatch::open({path("secret"), path("deep/er/secret")}, queues_);
    ASSERT_TRUE(watch) << watch.error().message;
    first = watch->fd();
    exchange("secret", "decoy");
  }
  const std::size_t before = open_descriptors();
  auto watch = NameWatch::open({path("other"), path("deep/er/secret")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;
  EXPECT_EQ(watch->fd(), first);
  EXPECT_TRUE(watch->watches({path("other"), path("deep/er/secret")}));
  EXPECT_FALSE(watch->watches({path("other")}));
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(becomes_readable(watch->fd(), 0));
  exchange("secret", "decoy");
  EXPECT_THAT(watch->changed(), IsEmpty());
  exchange("other", "decoy");
  EXPECT_THAT(watch->changed(), ElementsAre(path("other")));
}

TEST_F(NameWatchTest, NoMoreQueuesAreKeptThanOne) {
  const std::size_t before = open_descriptors();
  {
    std::vector<NameWatch> watches;
    for (int i = 0; i < 4; ++i)
      watches.push_back(std::move(*NameWatch::open({path("secret")}, queues_)));
    EXPECT_EQ(open_descriptors(), before + 4);
  }
  EXPECT_EQ(open_descriptors(), before + 1);
}

TEST_F(NameWatchTest, WhatDidNotExistIsNoticedWhenItIsMade) {
  auto watch = NameWatch::open({path("none/secret")}, queues_);
  ASSERT_TRUE(watch) << watch.error().message;

  std::filesystem::create_directory(at("none"));

  EXPECT_THAT(watch->changed(), ElementsAre(path("none/secret")));
}

}  // namespace
}  // namespace loom::host
