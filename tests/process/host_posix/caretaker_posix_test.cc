// The caretaker where there are neither namespaces nor descriptors of processes: it ends a run's
// process group and removes its private scratch.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/caretaker.h"
#include "host/private_scratch.h"
#include "host/process_table.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::shared_ptr<Caretaker> start_caretaker() {
  auto caretaker = Caretaker::start();
  if (!caretaker) {
    ADD_FAILURE() << caretaker.error().message;
    std::abort();
  }
  return *caretaker;
}

MadeNames begin_run(Caretaker& caretaker) {
  auto made = caretaker.make({});
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

SpawnRequest sleeper(const MadeNames& made) {
  SpawnRequest request = probe({"sleep"});
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

class CaretakerPosixTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

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

  [[nodiscard]] AbsolutePath parent() const { return *AbsolutePath::parse(place_.str()); }
  [[nodiscard]] bool nothing_is_left() const { return std::filesystem::is_empty(place_.str()); }

  // With something in it; nobody but the caretaker removes it.
  [[nodiscard]] AbsolutePath lost_scratch(const MadeNames& made) const {
    auto scratch = PrivateScratch::make(
        parent(), "scratch-", [&](const AbsolutePath& path) { return made.guard_scratch(path); });
    if (!scratch) std::abort();
    AbsolutePath path = scratch->path();
    std::filesystem::create_directories(path.str() + "/a/b");
    std::ofstream(path.str() + "/a/b/file") << "text";
    // As a process that is killed before its destructors. Remembered, so that no sanitizer calls it
    // lost as well.
    static auto* const lost = new std::vector<PrivateScratch>();
    lost->push_back(std::move(*scratch));
    return path;
  }

  TemporaryDirectory place_;
};

TEST_F(CaretakerPosixTest, AKilledHelperLeavesNeitherGroupNorScratch) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = begin_run(*caretaker);
    static_cast<void>(lost_scratch(made));
    const auto child = spawn(sleeper(made));
    tell(said, child && !child->failure ? child->pid : 0);
    tell(said, caretaker->pid());
    ::pause();
  });
  const pid_t child = helper.hear();
  const pid_t caretaker = helper.hear();
  ASSERT_TRUE(runs(child));
  ASSERT_FALSE(nothing_is_left());

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return !runs(child); }, milliseconds(5'000)));
  EXPECT_TRUE(becomes_true([&] { return nothing_is_left(); }, milliseconds(5'000)));
  EXPECT_TRUE(becomes_true([&] { return !runs(caretaker); }, milliseconds(5'000)));
}

// Its leader is gone and reaped, and the number of the group is still the group's.
TEST_F(CaretakerPosixTest, AGroupWithoutItsLeaderIsEndedToo) {
  const Helper helper([&](int said) {
    const auto caretaker = start_caretaker();
    const MadeNames made = begin_run(*caretaker);
    SpawnRequest request = sleeper(made);
    request.candidates = {"/bin/sh"};
    request.argv = {"sh", "-c", "sleep 60 & echo $! >&3"};
    const Pipe out = make_pipe();
    request.moves = {{.from = out.write.get(), .to = 3}};
    const auto child = spawn(request);
    char line[32] = {};
    if (!child || ::read(out.read.get(), line, sizeof line - 1) <= 0) ::_exit(1);
    wait_for(child->pidfd.get());
    tell(said, std::atoi(line));
    ::pause();
  });
  const pid_t left = helper.hear();
  ASSERT_TRUE(runs(left));

  helper.kill();

  EXPECT_TRUE(becomes_true([&] { return !runs(left); }, milliseconds(5'000)));
}

TEST_F(CaretakerPosixTest, AReleaseEndsWhatIsLeftOfTheGroupAndRemovesTheScratch) {
  const auto caretaker = start_caretaker();
  MadeNames made = begin_run(*caretaker);
  const AbsolutePath scratch = lost_scratch(made);
  SpawnRequest request = sleeper(made);
  request.candidates = {"/bin/sh"};
  request.argv = {"sh", "-c", "sleep 60 & echo $! >&3"};
  const Pipe out = make_pipe();
  request.moves = {{.from = out.write.get(), .to = 3}};
  const auto child = spawn(request);
  ASSERT_TRUE(child && !child->failure);
  char line[32] = {};
  ASSERT_GT(::read(out.read.get(), line, sizeof line - 1), 0);
  const pid_t left = std::atoi(line);
  wait_for(child->pidfd.get());
  ASSERT_TRUE(runs(left));
  ASSERT_TRUE(std::filesystem::exists(scratch.str()));

  EXPECT_THAT(release(made), IsEmpty());

  EXPECT_FALSE(runs(left));
  EXPECT_FALSE(std::filesystem::exists(scratch.str()));
  EXPECT_TRUE(caretaker->is_alive());
}

// The next process gets this number, where the kernel lets us say so (ns_last_pid).
bool next_process_is(pid_t number) {
  std::ofstream last("/proc/sys/kernel/ns_last_pid");
  last << number - 1 << std::flush;
  return last.good();
}

// The run ended, and somebody else got the number of its leader meanwhile.
TEST_F(CaretakerPosixTest, AProcessOfAnotherBirthIsLeftAlone) {
  const auto caretaker = start_caretaker();
  MadeNames made = begin_run(*caretaker);
  const auto leader = spawn(sleeper(made));
  ASSERT_TRUE(leader && !leader->failure);
  ASSERT_TRUE(made.guard_scratch(*AbsolutePath::parse(place_ / "none")))
      << "it is registered by now";
  ::kill(leader->pid, SIGKILL);
  wait_for(leader->pidfd.get());
  std::this_thread::sleep_for(milliseconds(30));  // births are counted in ticks
  std::optional<SpawnedChild> stranger;
  for (int tries = 0; tries < 50 && !stranger; ++tries) {
    if (!next_process_is(leader->pid)) {
      LOOM_SKIP_UNLESS_PROMISED("the kernel does not let us choose a number");
    }
    auto child = spawn(probe({"sleep"}));
    ASSERT_TRUE(child && !child->failure);
    if (child->pid == leader->pid) {
      stranger = std::move(*child);
    } else {
      ::kill(child->pid, SIGKILL);
      wait_for(child->pidfd.get());
    }
  }
  if (!stranger) LOOM_SKIP_UNLESS_PROMISED("the number was never free");

  EXPECT_THAT(release(made), IsEmpty());

  EXPECT_TRUE(runs(stranger->pid));
  ::kill(stranger->pid, SIGKILL);
  wait_for(stranger->pidfd.get());
}

// What kill(2) of a process group says on macOS when nobody in it can be signalled.
int may_not(pid_t, int) {
  errno = EPERM;
  return -1;
}

Syscalls powerless() {
  Syscalls syscalls = real_syscalls();
  syscalls.kill = &may_not;
  return syscalls;
}

TEST_F(CaretakerPosixTest, AGroupOfZombiesHasEndedThoughNobodyMaySignalIt) {
  const Syscalls syscalls = powerless();
  const auto caretaker = *Caretaker::start(syscalls);
  MadeNames made = begin_run(*caretaker);
  const auto leader = spawn(sleeper(made));
  ASSERT_TRUE(leader && !leader->failure);
  ASSERT_TRUE(made.guard_scratch(*AbsolutePath::parse(place_ / "none")))
      << "it is registered by now";
  ::kill(leader->pid, SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !runs(leader->pid); }, milliseconds(2'000)));

  EXPECT_THAT(release(made), IsEmpty());

  wait_for(leader->pidfd.get());
}

TEST_F(CaretakerPosixTest, AMemberThatMayNotBeSignalledIsReported) {
  const Syscalls syscalls = powerless();
  const auto caretaker = *Caretaker::start(syscalls);
  MadeNames made = begin_run(*caretaker);
  const auto leader = spawn(sleeper(made));
  ASSERT_TRUE(leader && !leader->failure);
  ASSERT_TRUE(made.guard_scratch(*AbsolutePath::parse(place_ / "none")))
      << "it is registered by now";

  EXPECT_THAT(release(made), ElementsAre(HasSubstr("did not end within 1.5 s")));

  EXPECT_TRUE(runs(leader->pid));
  ::kill(leader->pid, SIGKILL);
  wait_for(leader->pidfd.get());
}

// The answer is about processes (unheld:processes); the helper looks at the scratch itself.
TEST_F(CaretakerPosixTest, AScratchThatStaysIsNoProcess) {
  const auto caretaker = start_caretaker();
  MadeNames made = begin_run(*caretaker);
  const auto place = *AbsolutePath::parse(place_ / "file");
  std::ofstream(place.str()) << "x";
  ASSERT_TRUE(made.guard_scratch(place));

  EXPECT_THAT(release(made), IsEmpty());

  EXPECT_THAT(remove_private_scratch(place), Not(IsEmpty()));
  EXPECT_TRUE(std::filesystem::exists(place.str()));
}

TEST_F(CaretakerPosixTest, ADroppedRunIsReleased) {
  const auto caretaker = start_caretaker();
  {
    const MadeNames made = begin_run(*caretaker);
    static_cast<void>(lost_scratch(made));
    ASSERT_FALSE(nothing_is_left());
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(CaretakerPosixTest, NothingIsPutInThePlaceOfAnAbsentPath) {
  const auto caretaker = start_caretaker();

  const auto made = caretaker->make({{.path = *AbsolutePath::parse(place_ / "absent")}});

  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(CaretakerPosixTest, WithoutItsCaretakerARunDoesNotStart) {
  const auto caretaker = start_caretaker();
  MadeNames made = begin_run(*caretaker);
  ASSERT_TRUE(made.has_caretaker());
  ::kill(caretaker->pid(), SIGKILL);
  ASSERT_TRUE(becomes_readable(made.end_fd()));
  ASSERT_TRUE(becomes_true([&] { return !made.has_caretaker(); }, milliseconds(2'000)));

  const auto child = spawn(sleeper(made));

  ASSERT_TRUE(child && child->failure);
  EXPECT_EQ(child->failure->step, ChildStep::kRegister);
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 126);
  EXPECT_FALSE(made.guard_scratch(parent()));
  EXPECT_FALSE(caretaker->make({}));
  EXPECT_FALSE(made.ask_release() && made.take_answer());
}

TEST_F(CaretakerPosixTest, ItHoldsNothingOfTheHelpersAndEndsWithItsLine) {
  Pipe frames = make_pipe();
  auto caretaker = start_caretaker();
  { const MadeNames made = begin_run(*caretaker); }  // it is prepared by now
  const pid_t pid = caretaker->pid();
  frames.write.reset();

  EXPECT_TRUE(becomes_readable(frames.read.get(), 1'000)) << "no end of file";
  EXPECT_EQ(::getsid(pid), pid);
  const std::string proc = "/proc/" + std::to_string(pid);
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/cwd"), "/");
  const std::filesystem::directory_iterator open(proc + "/fd");
  EXPECT_EQ(std::distance(begin(open), end(open)), 1);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::kill(pid, number);
  EXPECT_TRUE(caretaker->is_alive());

  caretaker.reset();

  EXPECT_EQ(read_process_state(pid), 0) << "it was not even reaped";
}

TEST_F(CaretakerPosixTest, RunsAndCaretakersLeaveNoDescriptor) {
  { static_cast<void>(start_caretaker()); }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    const auto caretaker = start_caretaker();
    MadeNames made = begin_run(*caretaker);
    const auto child = spawn(sleeper(made));
    ASSERT_TRUE(child && !child->failure);
    ::kill(child->pid, SIGKILL);
    wait_for(child->pidfd.get());
    EXPECT_THAT(release(made), IsEmpty());
  }
  EXPECT_EQ(open_descriptors(), before);
}

// What a broker that kills and restarts helpers does.
TEST_F(CaretakerPosixTest, HelpersKilledAtAnyMomentLeaveNothing) {
  std::set<pid_t> caretakers;
  unsigned seed = 1;
  for (int i = 0; i < 40; ++i) {
    const Helper helper([&](int said) {
      const auto caretaker = start_caretaker();
      tell(said, caretaker->pid());
      for (;;) {
        const MadeNames made = begin_run(*caretaker);
        static_cast<void>(lost_scratch(made));
        const auto child = spawn(sleeper(made));
        if (child) ::kill(-child->pid, SIGKILL);
        if (child) wait_for(child->pidfd.get());
      }
    });
    caretakers.insert(helper.hear());
    std::this_thread::sleep_for(std::chrono::microseconds(::rand_r(&seed) % 12'000));
    helper.kill();
  }

  const auto all_gone = [&] { return std::none_of(caretakers.begin(), caretakers.end(), runs); };
  EXPECT_TRUE(becomes_true(all_gone, milliseconds(20'000)));
  EXPECT_TRUE(nothing_is_left());
}

}  // namespace
}  // namespace loom::host
