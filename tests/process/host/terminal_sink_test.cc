// Terminals of which a sink can have no description of its own.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>

#include <chrono>
#include <string>
#include <string_view>

#include "host/byte_sink.h"
#include "host/shared_terminal.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {
namespace {

constexpr std::size_t kMany = 300'000;
constexpr unsigned kTooLong = 20;  // seconds until the alarm ends a sink that waits
constexpr uid_t kSomebodyElse = 65'534;

// Line feeds among them: a terminal makes two bytes of one.
Bytes lines(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i % 3 == 0 ? '\n' : 'a' + i % 26);
  }
  return bytes;
}

std::string as_shown(const Bytes& bytes) {
  std::string text;
  for (const char letter : as_text(bytes)) {
    if (letter == '\n') text += '\r';
    text += letter;
  }
  return text;
}

struct Terminal {
  UniqueFd master;
  UniqueFd slave;
};

Terminal make_terminal() {
  Terminal made{.master = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), .slave = {}};
  if (!made.master || ::grantpt(made.master.get()) != 0 || ::unlockpt(made.master.get()) != 0) {
    std::abort();
  }
  made.slave.reset(::open(::ptsname(made.master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!made.slave) std::abort();
  return made;
}

std::string read_shown(int fd, std::size_t size) {
  std::string got;
  std::string part(65'536, '\0');
  while (got.size() < size && becomes_readable(fd)) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count <= 0) break;
    got.append(part, 0, static_cast<std::size_t>(count));
  }
  return got;
}

// The first step that did not hold, as a child's exit status; 0: all did.
enum Step : int { kFine, kNobody, kNoSink, kNotShared, kBroke, kTookAll, kTookTooMuch, kFlags };

// Flushes until everything is out, as the event loop would.
bool flush_all(ByteSink& sink) {
  while (sink.pending() > 0) {
    pollfd room{.fd = sink.poll_fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, -1) < 0 || !sink.flush()) return false;
  }
  return true;
}

// What runs as another user than the terminal's. `told` ends when there is a reader.
int write_as_somebody_else(int terminal, int told, std::size_t most_before) {
  ::alarm(kTooLong);
  if (::setuid(kSomebodyElse) != 0) return kNobody;
  const int flags = ::fcntl(terminal, F_GETFL);
  auto sink = ByteSink::open(terminal);
  if (!sink) return kNoSink;
  if (sink->poll_fd() != terminal || !sink->can_wait()) return kNotShared;
  sink->push(lines(kMany));
  for (int tries = 0; tries < 3; ++tries) {
    if (!sink->flush()) return kBroke;
  }
  if (sink->pending() == 0) return kTookAll;
  if (kMany - sink->pending() > most_before) return kTookTooMuch;
  char byte = 0;
  static_cast<void>(::read(told, &byte, 1));
  if (!flush_all(*sink)) return kBroke;
  return ::fcntl(terminal, F_GETFL) == flags && ::alarm(0) > 0 ? kFine : kFlags;
}

class TerminalSinkTest : public ::testing::Test {
 protected:
  // Nobody reads at first; everything arrives once somebody does.
  void expect_all_from_somebody_else(bool stopped) {
    const Pipe reader = make_pipe();
    ASSERT_EQ(stopped ? ::tcflow(terminal_.slave.get(), TCOOFF) : 0, 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(reader.write.get());
      ::_exit(write_as_somebody_else(terminal_.slave.get(), reader.read.get(),
                                     stopped ? 0 : kMany - 1));
    }
    // Its first flushes are over then, or it hangs in one of them.
    ::usleep(300'000);
    EXPECT_EQ(becomes_readable(terminal_.master.get(), 0), !stopped);
    ASSERT_EQ(::write(reader.write.get(), "r", 1), 1);
    ASSERT_EQ(stopped ? ::tcflow(terminal_.slave.get(), TCOON) : 0, 0);
    const std::string expected = as_shown(lines(kMany));
    const std::string got = read_shown(terminal_.master.get(), expected.size());
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    EXPECT_EQ(status, 0) << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    EXPECT_TRUE(got == expected) << got.size() << " of " << expected.size();
  }

  Terminal terminal_ = make_terminal();
};

TEST_F(TerminalSinkTest, AnotherUsersTerminalIsNotWaitedForAndNothingIsLost) {
  if (::getuid() != 0) LOOM_SKIP_UNLESS_PROMISED("it needs to become another user");
  expect_all_from_somebody_else(/*stopped=*/false);
}

TEST_F(TerminalSinkTest, AnotherUsersStoppedTerminalIsNotWaitedForAndNothingIsLost) {
  if (::getuid() != 0) LOOM_SKIP_UNLESS_PROMISED("it needs to become another user");
  expect_all_from_somebody_else(/*stopped=*/true);
}

// The poll's answer is a moment older than the write.
TEST_F(TerminalSinkTest, ATerminalThatStopsAfterThePollHoldsUpForAMoment) {
  Syscalls syscalls = real_syscalls();
  syscalls.poll = [](pollfd*, nfds_t, int) { return 1; };
  ASSERT_EQ(::tcflow(terminal_.slave.get(), TCOOFF), 0);
  sigset_t alarm;
  sigset_t before;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::alarm(kTooLong);
  const auto began = std::chrono::steady_clock::now();

  // A caller may have left the signal blocked.
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &alarm, &before), 0);
  const ssize_t wrote = write_shared_terminal(syscalls, terminal_.slave.get(), as_bytes("a\n"));
  const int error = errno;

  EXPECT_EQ(wrote, -1);
  EXPECT_EQ(error, EAGAIN);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  sigset_t after;
  ASSERT_EQ(::sigprocmask(SIG_SETMASK, &before, &after), 0);
  EXPECT_EQ(sigismember(&after, SIGALRM), 1);
  struct sigaction action {};
  ASSERT_EQ(::sigaction(SIGALRM, nullptr, &action), 0);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
  // The caller's own alarm is still to come, and no later than it was.
  const unsigned left = ::alarm(0);
  EXPECT_GE(left, kTooLong - 6);
  EXPECT_LE(left, kTooLong);

  ASSERT_EQ(::tcflow(terminal_.slave.get(), TCOON), 0);
  EXPECT_EQ(write_shared_terminal(syscalls, terminal_.slave.get(), as_bytes("a\n")), 2);
  EXPECT_EQ(read_shown(terminal_.master.get(), 3), "a\r\n");
  EXPECT_EQ(::alarm(0), 0u);
}

TEST_F(TerminalSinkTest, WhatGoesToAControllingSideArrivesAtItsTerminal) {
  EXPECT_TRUE(is_terminal_master(terminal_.master.get()));
  EXPECT_FALSE(is_terminal_master(terminal_.slave.get()));
  ::alarm(kTooLong);
  auto sink = ByteSink::open(terminal_.master.get());
  ASSERT_TRUE(sink);
  EXPECT_TRUE(sink->can_wait());
  const ByteView typed = as_bytes("typed\n");
  sink->push(Bytes(typed.begin(), typed.end()));

  ASSERT_TRUE(flush_all(*sink));

  EXPECT_EQ(read_shown(terminal_.slave.get(), typed.size()), "typed\n");
  ::alarm(0);
}

// As it was: what may be reopened is, so that a poll is not all there is.
TEST_F(TerminalSinkTest, AnOwnTerminalGetsADescriptionOfItsOwn) {
  auto sink = ByteSink::open(terminal_.slave.get());
  ASSERT_TRUE(sink);

  EXPECT_NE(sink->poll_fd(), terminal_.slave.get());
}

}  // namespace
}  // namespace loom::host
