#include "app/git_identity_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "tests/support/read_file.h"

namespace loom::app {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using R = IdentityRefusal;

constexpr const char* kTemporary = ".gitconfig-0123";
constexpr std::string_view kContent = "[user]\n";

class GitIdentityFileTest : public ::testing::Test {
 protected:
  GitIdentityFileTest() {
    std::string pattern = (fs::temp_directory_path() / "loom-XXXXXX").string();
    place_ = fs::canonical(::mkdtemp(pattern.data()));
    home_ = place_ / "ws" / "home";
    fs::create_directories(home_);
  }
  ~GitIdentityFileTest() override { fs::remove_all(place_); }

  static AbsolutePath file_in(const fs::path& home) {
    return *AbsolutePath::parse((home / "gitconfig").string());
  }

  static std::optional<guard::Landing> opened(const fs::path& home) {
    auto walked = walk_to_file(file_in(home));
    EXPECT_TRUE(walked) << home << ": " << refusal_text(walked.error());
    return walked ? std::optional(*std::move(walked)) : std::nullopt;
  }

  static IdentityRefusal refusal_of(const fs::path& home) {
    const auto walked = walk_to_file(file_in(home));
    EXPECT_FALSE(walked) << home;
    return walked ? R::kPlatform : walked.error();
  }

  [[nodiscard]] static IdentityResult<void> replace(const std::optional<guard::Landing>& file,
                                                    std::string_view content = kContent) {
    if (!file) return tl::unexpected(R::kPlatform);
    return replace_file(*file, kTemporary, content);
  }

  static std::string text(const fs::path& path) { return test::read_file(path); }

  static void write(const fs::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  static std::vector<std::string> names(const fs::path& directory) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory))
      found.push_back(entry.path().filename());
    return found;
  }

  fs::path place_;
  fs::path home_;
};

TEST_F(GitIdentityFileTest, TheFileIsWholeAndPrivateWhateverTheUmask) {
  for (const mode_t umask : {mode_t{0}, mode_t{0777}}) {
    const mode_t before = ::umask(umask);
    const auto done = replace(opened(home_));
    ::umask(before);

    ASSERT_TRUE(done) << refusal_text(done.error());
    struct stat about {};
    ASSERT_EQ(::lstat((home_ / "gitconfig").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode, static_cast<mode_t>(S_IFREG | 0600));
    EXPECT_EQ(about.st_uid, ::geteuid());
    EXPECT_EQ(text(home_ / "gitconfig"), kContent);
    EXPECT_THAT(names(home_), ElementsAre("gitconfig"));
  }
}

// cases.md 224
TEST_F(GitIdentityFileTest, ALinkOrAHardLinkIsReplacedAsAName) {
  const fs::path other = place_ / "other";
  write(other, "untouched");
  for (const bool symbolic : {true, false}) {
    fs::remove(home_ / "gitconfig");
    if (symbolic) {
      fs::create_symlink(other, home_ / "gitconfig");
    } else {
      fs::create_hard_link(other, home_ / "gitconfig");
    }

    ASSERT_TRUE(replace(opened(home_)));

    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(home_ / "gitconfig")));
    EXPECT_EQ(text(home_ / "gitconfig"), kContent);
    EXPECT_EQ(text(other), "untouched");
    EXPECT_EQ(fs::hard_link_count(other), 1u);
  }
}

TEST_F(GitIdentityFileTest, AFifoOrASocketInTheFilesPlaceIsReplacedWithoutBeingOpened) {
  ASSERT_EQ(::mkfifo((home_ / "gitconfig").c_str(), 0600), 0);
  ASSERT_TRUE(replace(opened(home_)));
  EXPECT_EQ(text(home_ / "gitconfig"), kContent);

  fs::remove(home_ / "gitconfig");
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (home_ / "gitconfig").string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_TRUE(replace(opened(home_)));
  EXPECT_EQ(text(home_ / "gitconfig"), kContent);
}

// cases.md 227
TEST_F(GitIdentityFileTest, ADirectoryThatIsRenamedAndReplacedByALinkAfterItWasOpenedKeepsTheFile) {
  const fs::path decoy = place_ / "decoy";
  fs::create_directory(decoy);
  const auto home = opened(home_);
  fs::rename(home_, place_ / "renamed");
  fs::create_directory_symlink(decoy, home_);

  ASSERT_TRUE(replace(home));

  EXPECT_EQ(text(place_ / "renamed" / "gitconfig"), kContent);
  EXPECT_THAT(names(decoy), IsEmpty());
}

TEST_F(GitIdentityFileTest, ADirectoryThatWasRemovedAfterItWasOpenedTakesNoFile) {
  const auto home = opened(home_);
  fs::remove(home_);
  fs::create_directory(home_);

  const auto done = replace(home);

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), R::kCreate);
  EXPECT_THAT(names(home_), IsEmpty());
}

// cases.md 230
TEST_F(GitIdentityFileTest, ADirectoryInTheFilesPlaceIsLeftAndNoTemporaryNameRemains) {
  for (const bool filled : {false, true}) {
    fs::create_directory(home_ / "gitconfig");
    if (filled) write(home_ / "gitconfig" / "inside", "kept");

    const auto done = replace(opened(home_));

    ASSERT_FALSE(done);
    EXPECT_EQ(done.error(), R::kReplace);
    EXPECT_THAT(names(home_), ElementsAre("gitconfig"));
    EXPECT_EQ(fs::exists(home_ / "gitconfig" / "inside"), filled);
    fs::remove_all(home_ / "gitconfig");
  }
}

TEST_F(GitIdentityFileTest, AFailedWriteLeavesTheOldFileAndNoTemporaryName) {
  write(home_ / "gitconfig", "old");
  const std::string content(8192, 'x');
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = replace(opened(home_), content);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), R::kWrite);
  EXPECT_THAT(names(home_), ElementsAre("gitconfig"));
  EXPECT_EQ(text(home_ / "gitconfig"), "old");

  ASSERT_TRUE(replace(opened(home_), content));
  EXPECT_EQ(text(home_ / "gitconfig"), content);
}

TEST_F(GitIdentityFileTest, ATemporaryNameThatIsTakenIsNeitherOpenedNorRemoved) {
  const fs::path other = place_ / "other";
  write(other, "untouched");
  fs::create_symlink(other, home_ / kTemporary);

  const auto done = replace(opened(home_));

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), R::kCreate);
  EXPECT_EQ(text(other), "untouched");
  EXPECT_THAT(names(home_), ElementsAre(kTemporary));
}

// cases.md 223
TEST_F(GitIdentityFileTest, NoComponentOfTheWayMayBeALink) {
  fs::create_directory_symlink(place_ / "ws", place_ / "link");
  EXPECT_EQ(refusal_of(place_ / "link" / "home"), R::kHomeThroughLink);
  fs::create_directory_symlink(home_, place_ / "ws" / "last");
  EXPECT_EQ(refusal_of(place_ / "ws" / "last"), R::kHomeThroughLink);
  fs::create_directory_symlink(place_ / "nowhere", place_ / "ws" / "dangling");
  EXPECT_EQ(refusal_of(place_ / "ws" / "dangling"), R::kHomeThroughLink);
  EXPECT_TRUE(opened(home_));
}

// cases.md 230
TEST_F(GitIdentityFileTest, WhatIsNotThereIsNotMadeAndWhatIsNoDirectoryIsNotEntered) {
  EXPECT_EQ(refusal_of(place_ / "ws" / "gone"), R::kHomeMissing);
  EXPECT_EQ(refusal_of(place_ / "gone" / "home"), R::kHomeMissing);
  EXPECT_FALSE(fs::exists(place_ / "gone"));
  write(place_ / "ws" / "file", "x");
  EXPECT_EQ(refusal_of(place_ / "ws" / "file"), R::kHomeThroughLink);
  EXPECT_EQ(refusal_of(place_ / "ws" / "file" / "home"), R::kHomeThroughLink);
  ASSERT_EQ(::mkfifo((place_ / "ws" / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(place_ / "ws" / "fifo"), R::kHomeThroughLink);
}

TEST_F(GitIdentityFileTest, TheWalkRemembersEveryDirectoryFromTheRootOn) {
  const auto home = opened(home_);
  const auto components = std::distance(home_.begin(), home_.end());
  ASSERT_TRUE(home);
  ASSERT_EQ(home->passed().size(), static_cast<std::size_t>(components));
  struct stat root {};
  struct stat last {};
  ASSERT_EQ(::stat("/", &root), 0);
  ASSERT_EQ(::stat(home_.c_str(), &last), 0);
  EXPECT_EQ(home->passed().front(), (FileIdentity{.device = root.st_dev, .inode = root.st_ino}));
  EXPECT_EQ(home->passed().back(), (FileIdentity{.device = last.st_dev, .inode = last.st_ino}));
  EXPECT_EQ(opened("/")->passed().size(), 1u);
}

TEST_F(GitIdentityFileTest, ADirectoryThatMayBeWrittenButNotListedIsEnough) {
  ASSERT_EQ(::chmod(home_.c_str(), 0300), 0);
  EXPECT_TRUE(replace(opened(home_)));
  ASSERT_EQ(::chmod(home_.c_str(), 0700), 0);
  EXPECT_EQ(text(home_ / "gitconfig"), kContent);
}

TEST(MakeTemporaryNameTest, NamesAreThirtyTwoHexDigitsAndNoTwoAreEqual) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const auto name = make_temporary_name();
    ASSERT_TRUE(name);
    ASSERT_EQ(name->size(), std::string_view(".gitconfig-").size() + 32);
    EXPECT_TRUE(name->starts_with(".gitconfig-"));
    EXPECT_EQ(name->find_first_not_of("0123456789abcdef", 11), std::string::npos) << *name;
    names.insert(*name);
  }
  EXPECT_EQ(names.size(), 100u);
}

}  // namespace
}  // namespace loom::app
