#include "host/held_names.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "held_names_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr mode_t kMask = 022;

class HeldNamesTest : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return place_ / name; }
  std::vector<std::string> rows() const { return listing(place_.str()); }

  static HeldNames take(const std::vector<WantedName>& names) {
    auto held = HeldNames::take(names, kMask);
    if (!held) {
      ADD_FAILURE() << held.error().message;
      std::abort();
    }
    return std::move(*held);
  }

  static UniqueFd open_directory(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  TemporaryDirectory place_;
};

TEST_F(HeldNamesTest, NamesAreMadeWithTheirMarksAndLeaveNoTrace) {
  HeldNames held = take(names_for_all({at(".env"), at("a/b/c"), at("a/d")}));

  EXPECT_THAT(rows(), ElementsAre(".env 1444", "a 1755", "a/b 1755", "a/b/c 1444", "a/d 1444"));
  EXPECT_EQ(held.identities().front(), identity_at(at(".env")));
  EXPECT_THAT(held.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, TheCreationMaskTakesNothingFromTheMarks) {
  const CreationMask most(0377);

  HeldNames held = take(names_for(at("a/b")));

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  EXPECT_THAT(held.remove(), IsEmpty());
}

TEST_F(HeldNamesTest, ADirectoryThatHandsDownItsGroupTakesNothingFromTheMarks) {
  ASSERT_EQ(::chmod(place_.str().c_str(), 02755), 0);

  HeldNames held = take(names_for(at("a/b")));

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  EXPECT_THAT(held.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, WhatAKilledHelperLeftIsAdoptedAndRemoved) {
  { const HeldNames lost = take(names_for(at("a/b"))); }  // locks end, names stay
  ASSERT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  const FileIdentity left = identity_at(at("a/b"));

  HeldNames held = take(names_for(at("a/b")));

  EXPECT_EQ(held.identities().back(), left);
  EXPECT_THAT(held.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, WhoLetsGoLastRemoves) {
  HeldNames first = take(names_for(at("a/b")));
  HeldNames second = take(names_for(at("a/b")));
  EXPECT_EQ(first.identities(), second.identities());

  EXPECT_THAT(first.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  EXPECT_THAT(second.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, OnSharedWaysEachRemovesItsOwnAndTheLastTheRest) {
  HeldNames first = take(names_for(at("a/b/c")));
  HeldNames second = take(names_for(at("a/d")));

  EXPECT_THAT(first.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/d 1444"));
  EXPECT_THAT(second.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, OneRunsProtectedPathMayBeOnAnothersWay) {
  HeldNames whole = take(names_for(at("a")));
  HeldNames part = take(names_for(at("a/b")));
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));

  EXPECT_THAT(whole.remove(), IsEmpty());
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  EXPECT_THAT(part.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, AnothersWayMayBeARunsProtectedPath) {
  HeldNames part = take(names_for(at("a/b")));
  HeldNames whole = take(names_for(at("a")));
  EXPECT_EQ(part.identities().front(), whole.identities().front());

  EXPECT_THAT(part.remove(), IsEmpty());
  EXPECT_THAT(rows(), ElementsAre("a 1755"));
  EXPECT_THAT(whole.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, WhatSomebodyPutOnTheWayStaysInAnOrdinaryDirectory) {
  HeldNames held = take(names_for(at("a/b/c")));
  std::ofstream(at("a/kept")) << "x";

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_EQ(mode_at(at("a")), 0777 & ~kMask);
  EXPECT_EQ(identity_at(at("a/b")), FileIdentity{});
  EXPECT_NE(identity_at(at("a/kept")), FileIdentity{});
}

TEST_F(HeldNamesTest, ADirectoryThatStaysIsAsMkdirWouldHaveMadeIt) {
  for (const mode_t above : {0755u, 02755u}) {
    ASSERT_EQ(::chmod(place_.str().c_str(), above), 0);
    for (const mode_t mask : {0u, 002u, 022u, 027u, 077u}) {
      SCOPED_TRACE(mask);
      {
        const CreationMask same(mask);
        ASSERT_EQ(::mkdir(at("like").c_str(), 0777), 0);
      }
      auto held = HeldNames::take(names_for(at("a/b")), mask);
      ASSERT_TRUE(held);
      std::ofstream(at("a/kept")) << "x";

      EXPECT_THAT(held->remove(), IsEmpty());

      EXPECT_EQ(mode_at(at("a")), mode_at(at("like")));
      std::filesystem::remove_all(at("a"));
      std::filesystem::remove(at("like"));
    }
  }
}

// What holds something when a run lets it go is not the helpers' any more, whoever empties it
// later.
TEST_F(HeldNamesTest, ADirectoryThatAnotherRunFoundInUseStaysAsAnOrdinaryOne) {
  HeldNames first = take(names_for(at("a/b")));
  std::ofstream(at("a/passing")) << "x";
  HeldNames second = take(names_for(at("a/b")));
  ASSERT_EQ(second.identities().size(), 1u) << "a was held too";
  std::filesystem::remove(at("a/passing"));

  EXPECT_THAT(first.remove(HeldNames::Attempt::kLast), IsEmpty());
  EXPECT_THAT(second.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("a 0755"));
}

TEST_F(HeldNamesTest, WhatSomebodyHadLockedGoesAtTheNextAttemptWithEverythingAboveIt) {
  HeldNames held = take(names_for_all({at("a/b/c"), at(".env")}));
  UniqueFd other = open_directory(at("a/b"));
  ASSERT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), 0);

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1755"));
  EXPECT_TRUE(held.is_waiting());
  EXPECT_TRUE(held.waits_without_need());
  const UniqueFd above = open_directory(at("a"));
  EXPECT_EQ(::flock(above.get(), LOCK_EX | LOCK_NB), 0) << "it keeps a lock of its own";
  ::flock(above.get(), LOCK_UN);
  other.reset();
  EXPECT_THAT(held.remove(), IsEmpty());
  EXPECT_FALSE(held.is_waiting());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, WhatAnotherRunHoldsIsNotWithoutNeed) {
  HeldNames first = take(names_for_all({at("a/b"), at("c/d")}));
  HeldNames second = take(names_for_all({at("a/b"), at("c/e")}));

  EXPECT_THAT(first.remove(), IsEmpty());

  EXPECT_TRUE(first.is_waiting());
  EXPECT_FALSE(first.waits_without_need());
  EXPECT_THAT(second.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_THAT(first.remove(), IsEmpty());
  EXPECT_FALSE(first.is_waiting()) << "it waits for a name that is gone";
}

TEST_F(HeldNamesTest, AfterTheLastAttemptNothingWaits) {
  HeldNames held = take(names_for(at("a/b")));
  const UniqueFd other = open_directory(at("a/b"));
  ASSERT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_THAT(held.remove(HeldNames::Attempt::kLast), IsEmpty());

  EXPECT_FALSE(held.is_waiting());
  EXPECT_THAT(rows(), ElementsAre("a 0755", "a/b 1444"));
}

TEST_F(HeldNamesTest, WhatTookTheNameOfOneThatWaitsIsLeftAlone) {
  HeldNames held = take(names_for_all({at("moved"), at("replaced")}));
  UniqueFd others[] = {open_directory(at("moved")), open_directory(at("replaced"))};
  for (const UniqueFd& other : others) ASSERT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
  EXPECT_THAT(held.remove(), IsEmpty());
  std::filesystem::rename(at("moved"), at("elsewhere"));
  std::filesystem::remove(at("replaced"));
  std::filesystem::create_directory(at("replaced"));
  for (UniqueFd& other : others) other.reset();

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_FALSE(held.is_waiting());
  EXPECT_THAT(rows(), ElementsAre("elsewhere 1444", "replaced 0755"));
}

TEST_F(HeldNamesTest, WhatARunAdoptedIsLeftToIt) {
  HeldNames first = take(names_for(at("a/b")));
  HeldNames second = take(names_for(at("a/b")));
  EXPECT_THAT(first.remove(), IsEmpty());

  first.leave_to(second.identities());

  EXPECT_FALSE(first.is_waiting());
  EXPECT_THAT(second.remove(), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

// A directory of somebody's own that a command emptied and gave the mode of a placeholder.
TEST_F(HeldNamesTest, WhatWasNotTakenIsNotRemovedWhateverItLooksLike) {
  std::filesystem::create_directory(at("own"));
  HeldNames held = take(names_for(at("own/.env")));
  ASSERT_EQ(::chmod(at("own").c_str(), guard::kIntermediateMode), 0);

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("own 1755"));
}

TEST_F(HeldNamesTest, ADirectoryAboveThatTheCommandClosedIsOpenedForTheRemovalAndClosedAgain) {
  std::filesystem::create_directory(at("own"));
  HeldNames held = take(names_for_all({at("own/x"), at("a/b")}));
  for (const char* name : {"own", "a"}) ASSERT_EQ(::chmod(at(name).c_str(), 0500), 0);

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("own 0500"));
}

TEST_F(HeldNamesTest, AFailureLeavesWhatItHadAdopted) {
  { const HeldNames lost = take(names_for(at("a/b"))); }
  std::vector<WantedName> names = names_for_all({at("a/b"), at("c"), at("x")});
  std::ofstream(at("x")) << "in the way";

  EXPECT_FALSE(HeldNames::take(names, kMask));

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444", "x 0644"));
}

TEST_F(HeldNamesTest, MoreNamesThanDescriptorsAreRefusedBeforeAnyIsMade) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 80;
  std::vector<std::string> paths;
  for (int i = 0; i < 30; ++i) paths.push_back(at("n" + std::to_string(i)));
  const auto names = names_for_all(paths);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);

  const auto held = HeldNames::take(names, kMask);

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(held.error().message, AllOf(HasSubstr("30 placeholders"), HasSubstr("80")));
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, ANameThatIsAnothersNowIsLeftAlone) {
  HeldNames held = take(names_for_all({at("moved"), at("replaced")}));
  std::filesystem::rename(at("moved"), at("elsewhere"));
  std::filesystem::remove(at("replaced"));
  std::filesystem::create_directory(at("replaced"));

  EXPECT_THAT(held.remove(), IsEmpty());

  EXPECT_EQ(identity_at(at("moved")), FileIdentity{});
  EXPECT_NE(identity_at(at("replaced")), FileIdentity{});
  EXPECT_NE(identity_at(at("elsewhere")), FileIdentity{});
}

TEST_F(HeldNamesTest, WhatIsNoPlaceholderIsNeitherAdoptedNorTouched) {
  const std::vector<std::pair<const char*, std::function<void(const std::string&)>>> cases = {
      {"a file", [](const std::string& path) { std::ofstream(path) << "x"; }},
      {"a link", [](const std::string& path) { std::filesystem::create_symlink("/", path); }},
      {"a dangling link",
       [](const std::string& path) { std::filesystem::create_symlink("nowhere", path); }},
      {"a FIFO", [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {"a directory", [](const std::string& path) { std::filesystem::create_directory(path); }},
  };
  for (const auto& [why, make] : cases) {
    SCOPED_TRACE(why);
    std::vector<WantedName> names = names_for_all({at("first"), at("x")});
    make(at("x"));
    const auto before = rows();

    const auto held = HeldNames::take(names, kMask);

    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::kDenied);
    EXPECT_THAT(held.error().message, HasSubstr(at("x")));
    EXPECT_EQ(rows(), before);
    std::filesystem::remove(at("x"));
  }
}

TEST_F(HeldNamesTest, ADirectoryAboveThatIsAnotherNowIsNotEntered) {
  std::filesystem::create_directory(at("w"));
  const std::vector<WantedName> names = names_for(at("w/.env"));
  std::filesystem::rename(at("w"), at("old"));
  std::filesystem::create_directory(at("w"));
  const auto before = rows();

  const auto held = HeldNames::take(names, kMask);

  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kDenied);
  EXPECT_EQ(rows(), before);
}

TEST_F(HeldNamesTest, ALinkAboveIsNotFollowed) {
  std::filesystem::create_directory(at("w"));
  const std::vector<WantedName> names = names_for(at("w/.env"));
  std::filesystem::rename(at("w"), at("old"));
  std::filesystem::create_directory_symlink("old", at("w"));
  const auto before = rows();

  const auto held = HeldNames::take(names, kMask);

  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kDenied);
  EXPECT_EQ(rows(), before);
}

TEST_F(HeldNamesTest, ARefusedNameIsNamedAndTheOthersAreTakenBack) {
  const std::string forbidden = "/sys/kernel/loom-placeholder";  // sysfs has no mkdir
  if (identity_at("/sys/kernel") == FileIdentity{}) GTEST_SKIP() << "there is no /sys here";

  const auto held = HeldNames::take(names_for_all({at("a/b"), forbidden}), kMask);

  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kSystem);
  EXPECT_THAT(held.error().message, AllOf(HasSubstr(forbidden), HasSubstr(": make: ")));
  EXPECT_THAT(rows(), IsEmpty());
}

int no_locks(int, int) {
  errno = ENOLCK;
  return -1;
}

// No file system without them is at hand.
TEST_F(HeldNamesTest, AFileSystemWithoutDirectoryLocksIsRefusedByName) {
  Syscalls syscalls = real_syscalls();
  syscalls.flock = &no_locks;

  const auto held = HeldNames::take(names_for(at("a/b")), kMask, syscalls);

  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, ErrorCode::kSystem);
  EXPECT_EQ(held.error().sys_errno, ENOLCK);
  EXPECT_THAT(held.error().message, AllOf(HasSubstr(at("a")), HasSubstr("lock")));
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(HeldNamesTest, AnExclusiveLockIsWaitedFor) {
  { const HeldNames lost = take(names_for(at("a"))); }
  const auto names = names_for(at("a"));
  UniqueFd other = open_directory(at("a"));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  std::thread remover([&] {
    std::this_thread::sleep_for(milliseconds(30));
    std::filesystem::remove(at("a"));
    other.reset();
  });

  HeldNames held = take(names);

  remover.join();
  EXPECT_EQ(held.identities().front(), identity_at(at("a")));
  EXPECT_THAT(held.remove(), IsEmpty());
}

TEST_F(HeldNamesTest, ALockThatNobodyGivesUpIsRefusedWithinASecond) {
  { const HeldNames lost = take(names_for(at("b"))); }
  const UniqueFd other = open_directory(at("b"));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  const auto begin = std::chrono::steady_clock::now();

  const auto held = HeldNames::take(names_for_all({at("a"), at("b")}), kMask);

  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr(at("b")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3'000));
  EXPECT_THAT(rows(), ElementsAre("b 1444"));
}

// Somebody takes the name away between the making and the lock, and makes a directory of the same
// name.
class AnotherMaker {
 public:
  explicit AnotherMaker(std::string path, mode_t mode, int afterwards) {
    state() = {.path = std::move(path), .mode = mode, .afterwards = afterwards, .calls = 0};
  }
  [[nodiscard]] static Syscalls syscalls() {
    Syscalls table = real_syscalls();
    table.flock = &flock;
    return table;
  }

 private:
  struct State {
    std::string path;
    mode_t mode;
    int afterwards;  // errno of the second attempt to lock; 0: what the kernel says
    int calls;
  };
  static State& state() {
    static State only;
    return only;
  }
  static int flock(int fd, int operation) {
    State& now = state();
    if (++now.calls == 1) {
      std::filesystem::remove(now.path);
      ::mkdir(now.path.c_str(), now.mode);
      ::chmod(now.path.c_str(), now.mode);
    }
    if (now.calls == 1 || (now.calls == 2 && now.afterwards != 0)) {
      errno = now.calls == 1 ? EWOULDBLOCK : now.afterwards;
      return -1;
    }
    return ::flock(fd, operation);
  }
};

TEST_F(HeldNamesTest, AFailureDoesNotTakeBackWhatAnotherMadeMeanwhile) {
  const AnotherMaker maker(at("a"), 0755, ENOLCK);

  const auto held = HeldNames::take(names_for(at("a")), kMask, AnotherMaker::syscalls());

  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr(at("a") + ": lock"));
  EXPECT_THAT(rows(), ElementsAre("a 0755"));
}

TEST_F(HeldNamesTest, APlaceholderThatAnotherMadeMeanwhileIsAdoptedAndNotTakenBack) {
  const AnotherMaker maker(at("a"), guard::kLeafMode, 0);
  const auto names = names_for_all({at("a"), at("x")});
  std::ofstream(at("x")) << "in the way";

  EXPECT_FALSE(HeldNames::take(names, kMask, AnotherMaker::syscalls()));

  EXPECT_THAT(rows(), ElementsAre("a 1444", "x 0644"));
}

// ---- file systems of a namespace's own ----------------------------------------------------------

bool may_mount() {
  if (::geteuid() == 0) return ::unshare(CLONE_NEWNS) == 0;
  const auto itself = [](auto id) { return std::to_string(id) + ' ' + std::to_string(id) + " 1"; };
  const std::string user = itself(::geteuid());
  const std::string group = itself(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return std::ofstream("/proc/self/setgroups") << "deny" << std::flush &&
         std::ofstream("/proc/self/uid_map") << user << std::flush &&
         std::ofstream("/proc/self/gid_map") << group << std::flush;
}

// Runs `body` in a child with a mount namespace where it may mount; what it returns, or nothing
// when this user may not.
std::optional<std::string> in_own_mounts(const std::function<std::string()>& body) {
  Pipe said = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    std::string answer = "!";
    if (may_mount() && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
      answer = body();
    }
    ::_exit(::write(said.write.get(), answer.data(), answer.size()) < 0);
  }
  said.write.reset();
  const std::string answer = read_text(said.read.get());
  ::waitpid(child, nullptr, 0);
  if (answer == "!") return std::nullopt;
  return answer;
}

// What came of taking `paths` where a small file system lies at `place`: the error, and what is
// left.
std::optional<std::string> refusal_on(const std::string& place, unsigned long flags,
                                      const std::vector<std::string>& paths) {
  return in_own_mounts([&]() -> std::string {
    if (::mount("tmpfs", place.c_str(), "tmpfs", 0, "nr_inodes=3") != 0) return "!";
    const auto names = names_for_all(paths);
    if (flags != 0 && ::mount("", place.c_str(), nullptr, MS_REMOUNT | flags, nullptr) != 0) {
      return "!";
    }
    const auto held = HeldNames::take(names, kMask);
    return (held ? "made" : held.error().message) + " left " +
           std::to_string(listing(place).size());
  });
}

TEST_F(HeldNamesTest, AReadOnlyFileSystemIsNamed) {
  const auto said = refusal_on(place_.str(), MS_RDONLY, {at(".env")});

  if (!said) LOOM_SKIP_UNLESS_PROMISED("no mounts of its own for this user");
  EXPECT_THAT(*said, AllOf(HasSubstr(at(".env")), HasSubstr("make: Read-only file system")));
}

TEST_F(HeldNamesTest, AFullFileSystemIsNamedAndKeepsNothing) {
  const auto said = refusal_on(place_.str(), 0, {at("a"), at("b"), at("c"), at("d")});

  if (!said) LOOM_SKIP_UNLESS_PROMISED("no mounts of its own for this user");
  EXPECT_THAT(*said, AllOf(HasSubstr("make: No space left on device"), HasSubstr("left 0")));
}

// ---- races ------------------------------------------------------------------------------------

// Takes and removes in a loop; while it holds its names, they must be its own.
int churn(const std::vector<std::string>& paths, int rounds) {
  int refusals = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto names = names_for_all(paths);
    auto held = HeldNames::take(names, kMask);
    // Looked at a bad moment.
    if (!held && held.error().code == ErrorCode::kDenied && ++refusals < rounds / 2) continue;
    if (!held) return 1;
    const auto identities = held->identities();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (identity_at(names[i].path.str()) != identities[i]) return 2;
    }
    if (!held->remove().empty()) return 3;
  }
  return 0;
}

TEST_F(HeldNamesTest, HoldersWhoComeAndGoNeverLoseANameAndLeaveNone) {
  const int rounds = 400;
  const std::vector<std::vector<std::string>> wishes = {
      {at("a/b/c"), at("x")}, {at("a/b/d"), at("x")}, {at("a")}, {at("a/b/c")}};
  std::vector<pid_t> children;
  for (const auto& paths : wishes) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(churn(paths, rounds));
    children.push_back(child);
  }

  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(rows(), IsEmpty());
}

}  // namespace
}  // namespace loom::host
