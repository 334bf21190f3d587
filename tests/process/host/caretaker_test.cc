#include "host/caretaker.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "held_names_support.h"
#include "host/process_table.h"

namespace loom::host {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::shared_ptr<Caretaker> start_caretaker() {
  auto caretaker = Caretaker::start();
  if (!caretaker) {
    ADD_FAILURE() << caretaker.error().message;
    std::abort();
  }
  return *caretaker;
}

MadeNames make(Caretaker& caretaker, const std::vector<WantedName>& names) {
  auto made = caretaker.make(names);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(*made);
}

bool becomes_true(const std::function<bool()>& condition, milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

bool runs(pid_t pid) {
  const char state = read_process_state(pid);
  return state != 0 && state != 'Z' && state != 'X';
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + '/' + file;
}

std::string status_line(pid_t pid, const std::string& name) {
  std::ifstream status(proc(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

UniqueFd locked(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(::flock(directory.get(), LOCK_SH | LOCK_NB), 0) << path;
  return directory;
}

// A process ends and leaves a locked descriptor in a message that only this message could still
// receive.
void leave_lock_in_transit(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd directory = locked(path);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) ::_exit(1);
    const std::array<int, 3> sent{directory.get(), ends[0], ends[1]};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof sent)> ancillary{};
    iovec part{.iov_base = ancillary.data(), .iov_len = 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof sent);
    std::memcpy(CMSG_DATA(header), sent.data(), sizeof sent);
    ::_exit(::sendmsg(ends[0], &message, 0) == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// For its lifetime, and for whoever is started meanwhile.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{.rlim_cur = limit, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  DescriptorLimit(DescriptorLimit&&) = delete;
  DescriptorLimit& operator=(DescriptorLimit&&) = delete;

 private:
  rlimit before_{};
};

class CaretakerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  std::string at(const std::string& name) const { return place_ / name; }
  std::vector<std::string> rows() const { return listing(place_.str()); }
  // Unlike a listing, it may be asked while somebody removes.
  bool nothing_is_left() const { return std::filesystem::is_empty(place_.str()); }

  // Release and what it came to; fails the test when there is no answer in time.
  static std::vector<std::string> release(MadeNames& made) {
    EXPECT_TRUE(made.ask_release());
    EXPECT_TRUE(becomes_readable(made.answer_fd()));
    auto answer = made.take_answer();
    if (!answer || !*answer) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return std::move(**answer);
  }

  TemporaryDirectory place_;
};

TEST_F(CaretakerTest, ItMakesWhatARunNeedsAndRemovesItAfterwards) {
  const auto caretaker = start_caretaker();

  MadeNames made = make(*caretaker, names_for_all({at("a/b"), at(".env")}));

  EXPECT_THAT(rows(), ElementsAre(".env 1444", "a 1755", "a/b 1444"));
  EXPECT_THAT(made.identities(),
              ElementsAre(identity_at(at("a")), identity_at(at("a/b")), identity_at(at(".env"))));
  EXPECT_THAT(release(made), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, TheHelpersCreationMaskIsKeptForWhatStaysOnly) {
  std::shared_ptr<Caretaker> caretaker;
  {
    const CreationMask all(0777);
    caretaker = start_caretaker();
  }
  MadeNames made = make(*caretaker, names_for(at("a/b")));
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  std::ofstream(at("a/kept")) << "x";

  EXPECT_THAT(release(made), IsEmpty());

  EXPECT_EQ(mode_at(at("a")), 0u);
  ::chmod(at("a").c_str(), 0700);
}

TEST_F(CaretakerTest, NamesThatFillSeveralMessagesAreMadeInOrder) {
  std::vector<std::string> paths;
  for (int i = 0; i < 400; ++i) {
    paths.push_back(at("d" + std::to_string(i % 7)) + '/' + std::string(200, 'x') +
                    std::to_string(i));
  }
  const auto names = names_for_all(paths);
  const auto caretaker = start_caretaker();

  MadeNames made = make(*caretaker, names);

  ASSERT_EQ(made.identities().size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(made.identities()[i], identity_at(names[i].path.str())) << names[i].path.str();
  }
  EXPECT_THAT(release(made), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, ARefusalArrivesWithPathAndStepAndNothingIsLeft) {
  const std::string forbidden = "/sys/kernel/loom-placeholder";
  if (identity_at("/sys/kernel") == FileIdentity{}) GTEST_SKIP() << "there is no /sys here";
  const auto caretaker = start_caretaker();

  const auto made = caretaker->make(names_for_all({at("a"), forbidden}));

  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kSystem);
  EXPECT_THAT(made.error().message, HasSubstr(forbidden + ": make: "));
  EXPECT_THAT(rows(), IsEmpty());
  MadeNames later = make(*caretaker, names_for(at("a")));
  EXPECT_THAT(rows(), ElementsAre("a 1444"));
}

TEST_F(CaretakerTest, WhatChangedMeanwhileIsToldFromWhatIsRefused) {
  const auto caretaker = start_caretaker();
  const auto names = names_for(at("a"));
  std::ofstream(at("a")) << "x";

  const auto made = caretaker->make(names);

  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kDenied);
  EXPECT_THAT(made.error().message, HasSubstr(at("a")));
}

TEST_F(CaretakerTest, ADroppedRunIsReleased) {
  const auto caretaker = start_caretaker();
  { const MadeNames made = make(*caretaker, names_for(at("a/b"))); }

  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_TRUE(caretaker->is_alive());
}

TEST_F(CaretakerTest, TwoRunsOfOneHelperDoNotTakeEachOthersNames) {
  const auto caretaker = start_caretaker();
  MadeNames first = make(*caretaker, names_for(at("a/b")));
  MadeNames second = make(*caretaker, names_for(at("a/c")));

  EXPECT_THAT(release(first), IsEmpty());

  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/c 1444"));
  EXPECT_THAT(release(second), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

// ---- locks of others ----------------------------------------------------------------------------

TEST_F(CaretakerTest, ALockThatACommandLeftInTransitKeepsNoName) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a/b")));
  leave_lock_in_transit(at("a"));

  EXPECT_THAT(release(made), IsEmpty());

  EXPECT_TRUE(becomes_true([&] { return nothing_is_left(); }, milliseconds(3'000)));
}

TEST_F(CaretakerTest, ALockThatEndsAfterTheReleaseKeepsNoName) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a/b/c")));
  UniqueFd lock = locked(at("a/b"));
  EXPECT_THAT(release(made), IsEmpty());
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1755"));

  std::this_thread::sleep_for(milliseconds(200));
  lock.reset();

  EXPECT_TRUE(becomes_true([&] { return nothing_is_left(); }, milliseconds(3'000)));
  EXPECT_TRUE(caretaker->is_alive());
}

TEST_F(CaretakerTest, ANameThatIsAdoptedWhileItWaitsGoesWithTheRunThatAdoptedIt) {
  const auto caretaker = start_caretaker();
  MadeNames first = make(*caretaker, names_for(at("a/b")));
  UniqueFd lock = locked(at("a"));
  EXPECT_THAT(release(first), IsEmpty());
  MadeNames second = make(*caretaker, names_for(at("a/b")));

  lock.reset();

  EXPECT_FALSE(becomes_true([&] { return rows().size() != 2; }, milliseconds(400)));
  EXPECT_THAT(release(second), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

// However many are left: one that is wanting looks like a name that changed.
TEST_F(CaretakerTest, WhatWaitsGivesItsDescriptorsToARunThatLacksThem) {
  const auto names = [this](char run, int count) {
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) paths.push_back(at(std::string{run, '/'} + std::to_string(i)));
    return names_for_all(paths);
  };
  for (int wanted = 12; wanted <= 26; ++wanted) {
    SCOPED_TRACE(wanted);
    std::shared_ptr<Caretaker> caretaker;
    {
      const DescriptorLimit few(160);
      caretaker = start_caretaker();
    }
    std::vector<UniqueFd> locks;
    for (const char run : {'u', 'v', 'w'}) {
      MadeNames made = make(*caretaker, names(run, 44));
      for (int i = 0; i < 44; ++i)
        locks.push_back(locked(at(std::string{run, '/'} + std::to_string(i))));
      EXPECT_THAT(release(made), IsEmpty());
    }

    auto made = caretaker->make(names('q', wanted));

    ASSERT_TRUE(made) << made.error().message;
    EXPECT_THAT(release(*made), IsEmpty());
    for (const char run : {'u', 'v', 'w'}) std::filesystem::remove_all(at(std::string{run}));
    EXPECT_THAT(rows(), IsEmpty());
  }
}

TEST_F(CaretakerTest, AnotherHelpersRunKeepsNoReleaseAndNoGoodbyeWaiting) {
  const auto other = start_caretaker();
  auto caretaker = start_caretaker();
  MadeNames theirs = make(*other, names_for_all({at("a/b"), at(".env")}));
  std::optional<MadeNames> ours = make(*caretaker, names_for_all({at("a/b"), at(".env")}));
  const auto begin = std::chrono::steady_clock::now();

  EXPECT_THAT(release(*ours), IsEmpty());
  ours.reset();
  caretaker.reset();

  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(300));
  EXPECT_THAT(rows(), ElementsAre(".env 1444", "a 1755", "a/b 1444"));
  EXPECT_THAT(release(theirs), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

// ---- its life -----------------------------------------------------------------------------------

TEST_F(CaretakerTest, ItHoldsNothingOfTheHelpers) {
  Pipe frames = make_pipe();
  const auto caretaker = start_caretaker();
  { const MadeNames made = make(*caretaker, names_for(at("a"))); }  // it is prepared by now
  const pid_t pid = caretaker->pid();

  frames.write.reset();

  EXPECT_TRUE(becomes_readable(frames.read.get(), 1'000)) << "no end of file";
  EXPECT_EQ(::getsid(pid), pid);
  EXPECT_EQ(text_of(proc(pid, "comm")), "loom-caretaker\n");
  EXPECT_EQ(text_of(proc(pid, "cmdline")).substr(0, 20), "loom-exec: caretaker");
  EXPECT_EQ(text_of(proc(pid, "cmdline")).find_first_not_of('\0', 20), std::string::npos);
  // Without 9 and 19, and the two that the C library keeps for itself.
  EXPECT_EQ(status_line(pid, "SigIgn"), "fffffffe7ffbfeff");
  if (::geteuid() != 0) return;  // the rest of an undumpable process is the superuser's to see
  EXPECT_EQ(text_of(proc(pid, "environ")).find_first_not_of('\0'), std::string::npos);
  EXPECT_EQ(std::filesystem::read_symlink(proc(pid, "cwd")), "/");
  const std::filesystem::directory_iterator open(proc(pid, "fd"));
  EXPECT_EQ(std::distance(begin(open), end(open)), 1);
}

TEST_F(CaretakerTest, SignalsThatEndAHelperDoNotEndIt) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a")));
  for (int number = 1; number < NSIG; ++number) {
    const bool of_the_library = number >= 32 && number < SIGRTMIN;
    if (number != SIGKILL && number != SIGSTOP && !of_the_library) {
      ::kill(caretaker->pid(), number);
    }
  }

  EXPECT_THAT(release(made), IsEmpty());
  EXPECT_TRUE(caretaker->is_alive());
}

TEST_F(CaretakerTest, ItEndsWithItsHelpersLine) {
  auto caretaker = start_caretaker();
  const pid_t pid = caretaker->pid();
  ASSERT_TRUE(runs(pid));

  caretaker.reset();

  EXPECT_EQ(read_process_state(pid), 0) << "it was not even reaped";
}

TEST_F(CaretakerTest, ADeadOneIsNoticedAndItsSuccessorAdoptsWhatItLeft) {
  const auto dead = start_caretaker();
  MadeNames lost = make(*dead, names_for(at("a/b")));
  ::kill(dead->pid(), SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !dead->is_alive(); }, milliseconds(2'000)));

  EXPECT_FALSE(dead->make(names_for(at("c"))));
  EXPECT_TRUE(becomes_readable(lost.end_fd(), 0));
  EXPECT_FALSE(lost.ask_release() && lost.take_answer());
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444"));
  const auto successor = start_caretaker();
  MadeNames adopted = make(*successor, names_for(at("a/b")));
  EXPECT_EQ(adopted.identities(), lost.identities());
  EXPECT_THAT(release(adopted), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

// ---- runs
// ----------------------------------------------------------------------------------------

SpawnRequest sleeper(const MadeNames& made) {
  SpawnRequest request = probe({"sleep"});
  request.die_with_parent = false;
  request.caretaker = made.registration_fd();
  request.run = made.run();
  return request;
}

// A helper of its own process: runs `body`, which tells what it likes on the pipe and may end or
// wait to be killed.
class Helper {
 public:
  explicit Helper(const std::function<void(int said)>& body) {
    Pipe said = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
      body(said.write.get());
      ::pause();
      ::_exit(0);
    }
    said.write.reset();
    said_ = std::move(said.read);
  }
  pid_t hear() const {
    pid_t number = 0;
    EXPECT_TRUE(becomes_readable(said_.get()));
    EXPECT_EQ(::read(said_.get(), &number, sizeof number), static_cast<ssize_t>(sizeof number));
    return number;
  }
  void kill() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  UniqueFd said_;
};

void tell(int pipe, pid_t number) {
  if (::write(pipe, &number, sizeof number) != static_cast<ssize_t>(sizeof number)) ::_exit(1);
}

TEST_F(CaretakerTest, AKilledHelpersJailIsEndedAndItsNamesAreRemoved) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = make(*caretaker, names_for_all({at("a/b"), at("c")}));
    const auto child = spawn(sleeper(made));
    tell(said, child && !child->failure ? child->pid : 0);
    tell(said, caretaker->pid());
    ::pause();
  });
  const pid_t child = helper.hear();
  const pid_t caretaker = helper.hear();
  ASSERT_TRUE(runs(child));
  EXPECT_THAT(rows(), ElementsAre("a 1755", "a/b 1444", "c 1444"));

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return !runs(caretaker); }, milliseconds(5'000)));
  EXPECT_FALSE(runs(child));
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, ALockLeftInTransitKeepsNoNameOfAKilledHelper) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = make(*caretaker, names_for(at("a/b")));
    leave_lock_in_transit(at("a"));
    tell(said, caretaker->pid());
    ::pause();
  });
  const pid_t caretaker = helper.hear();

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return !runs(caretaker); }, milliseconds(5'000)));
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, ALockThatSomebodyKeepsDoesNotKeepACaretaker) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = make(*caretaker, names_for_all({at("a/b"), at("c")}));
    tell(said, caretaker->pid());
    ::pause();
  });
  const pid_t caretaker = helper.hear();
  UniqueFd lock = locked(at("a"));

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return !runs(caretaker); }, milliseconds(5'000)));
  EXPECT_THAT(rows(), ElementsAre("a 1755"));
  lock.reset();
  const auto next = start_caretaker();
  MadeNames made = make(*next, names_for(at("a/b")));
  EXPECT_THAT(release(made), IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, NothingIsRemovedWhileAnythingOfTheKilledJailRuns) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = make(*caretaker, names_for(at("a")));
    SpawnRequest request = sleeper(made);
    request.candidates = {"/bin/sh"};
    request.argv = {"sh", "-c", "setsid sleep 600 & echo $! >&2; wait"};
    request.environment = {"PATH=/usr/bin:/bin"};
    Pipe err = make_pipe();
    request.moves = {{.from = err.write.get(), .to = 2}};
    const auto child = spawn(request);
    err.write.reset();
    char number[16] = {};
    if (!child || ::read(err.read.get(), number, sizeof number - 1) <= 0) ::_exit(1);
    tell(said, std::atoi(number));
    ::pause();
  });
  const pid_t escaped_group = helper.hear();
  ASSERT_TRUE(runs(escaped_group));

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return nothing_is_left(); }, milliseconds(5'000)));
  EXPECT_FALSE(runs(escaped_group));
}

TEST_F(CaretakerTest, AHelperKilledWhileItsChildIsHeldLeavesNeitherChildNorNames) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = make(*caretaker, names_for(at("a")));
    SpawnRequest request = sleeper(made);
    request.while_held = [&](pid_t child) {
      tell(said, child);
      ::pause();
    };
    static_cast<void>(spawn(request).has_value());
  });
  const pid_t child = helper.hear();
  ASSERT_TRUE(runs(child));

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return nothing_is_left(); }, milliseconds(5'000)));
  // Its descriptors end a moment before it does.
  EXPECT_TRUE(becomes_true([&] { return !runs(child); }, milliseconds(2'000)));
}

TEST_F(CaretakerTest, AReleaseWaitsForProcessOne) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a")));
  const auto launcher = spawn(sleeper(made));
  const auto inner = spawn(probe({"sleep"}));
  ASSERT_TRUE(launcher && inner);
  made.meet_process_one(inner->pidfd.get());
  ::kill(launcher->pid, SIGKILL);
  ASSERT_EQ(wait_for(launcher->pidfd.get()).signal, SIGKILL);

  ASSERT_TRUE(made.ask_release());

  EXPECT_FALSE(becomes_readable(made.answer_fd(), 100));
  EXPECT_THAT(rows(), ElementsAre("a 1444"));
  ::kill(inner->pid, SIGKILL);
  ASSERT_EQ(wait_for(inner->pidfd.get()).signal, SIGKILL);
  EXPECT_TRUE(becomes_readable(made.answer_fd()));
  const auto answer = made.take_answer();
  ASSERT_TRUE(answer && *answer);
  EXPECT_THAT(**answer, IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(CaretakerTest, AReleaseDoesNotWaitForEver) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a")));
  const auto launcher = spawn(sleeper(made));
  const auto inner = spawn(probe({"sleep"}));
  ASSERT_TRUE(launcher && inner);
  made.meet_process_one(inner->pidfd.get());
  const auto begin = std::chrono::steady_clock::now();

  const std::vector<std::string> problems = release(made);

  EXPECT_LT(std::chrono::steady_clock::now() - begin, kReleaseLimit + milliseconds(500));
  EXPECT_THAT(problems, ElementsAre(HasSubstr("did not end")));
  EXPECT_THAT(rows(), IsEmpty());
  for (const SpawnedChild* child : {&*launcher, &*inner}) {
    ::kill(child->pid, SIGKILL);
    EXPECT_EQ(wait_for(child->pidfd.get()).signal, SIGKILL);
  }
}

TEST_F(CaretakerTest, WithoutItsCaretakerARunDoesNotStart) {
  const auto caretaker = start_caretaker();
  MadeNames made = make(*caretaker, names_for(at("a")));
  ::kill(caretaker->pid(), SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !caretaker->is_alive(); }, milliseconds(2'000)));

  const auto child = spawn(sleeper(made));

  ASSERT_TRUE(child && child->failure);
  EXPECT_EQ(child->failure->step, ChildStep::kRegister);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
}

// What a broker that kills and restarts helpers does to one workspace.
TEST_F(CaretakerTest, HelpersKilledAtAnyMomentLeaveNothing) {
  const int kills = 60;
  std::set<pid_t> caretakers;
  unsigned seed = 1;
  for (int i = 0; i < kills; ++i) {
    const Helper helper([&](int said) {
      const auto caretaker = start_caretaker();
      tell(said, caretaker->pid());
      for (;;) {
        auto made = caretaker->make(names_for_all({at("a/b"), at("c/d")}));
        if (!made) continue;
        const auto child = spawn(sleeper(*made));
        if (child) ::kill(-child->pid, SIGKILL);
        if (child) ::waitpid(child->pid, nullptr, 0);
      }
    });
    caretakers.insert(helper.hear());
    std::this_thread::sleep_for(std::chrono::microseconds(::rand_r(&seed) % 8'000));
    helper.kill();
  }

  const auto all_gone = [&] { return std::none_of(caretakers.begin(), caretakers.end(), runs); };
  EXPECT_TRUE(becomes_true(all_gone, milliseconds(10'000)));
  EXPECT_THAT(rows(), IsEmpty());
}

}  // namespace
}  // namespace loom::host
