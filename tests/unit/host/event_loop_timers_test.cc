#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <vector>

#include "host/event_loop.h"

namespace loom::host {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the scripted poll was asked, and what it answers.
int asked_timeout_ms = 0;
nfds_t asked_count = 0;
int answer_errno = 0;

int scripted_poll(pollfd* fds, nfds_t count, int timeout_ms) {
  asked_timeout_ms = timeout_ms;
  asked_count = count;
  if (answer_errno == 0) return 0;
  for (nfds_t i = 0; i < count; ++i) fds[i].revents = POLLIN;  // rubbish, as after a failure
  errno = answer_errno;
  return -1;
}

class EventLoopTimersTest : public ::testing::Test {
 protected:
  EventLoopTimersTest() { answer_errno = 0; }

  Syscalls syscalls_{
      .clone = real_syscalls().clone, .write = real_syscalls().write, .poll = &scripted_poll};
  EventLoop loop_{syscalls_};
  std::vector<int> fired_;
};

TEST_F(EventLoopTimersTest, WithoutATimerThePollWaitsForEver) {
  ASSERT_TRUE(loop_.run_once());

  EXPECT_EQ(asked_timeout_ms, -1);
}

TEST_F(EventLoopTimersTest, TheTimeoutIsTheNearestDeadlineRoundedUp) {
  const Instant now = std::chrono::steady_clock::now();
  loop_.at(now + 1h, [] {});
  loop_.at(now + 10s, [] {});

  ASSERT_TRUE(loop_.run_once());

  EXPECT_LE(asked_timeout_ms, 10'000);
  EXPECT_GT(asked_timeout_ms, 5'000);
}

TEST_F(EventLoopTimersTest, AnythingUnderAMillisecondStillWaits) {
  loop_.at(std::chrono::steady_clock::now() + 900us, [] {});

  ASSERT_TRUE(loop_.run_once());

  EXPECT_LE(asked_timeout_ms, 1);
}

TEST_F(EventLoopTimersTest, ADeadlineBeyondWhatPollCountsIsCut) {
  loop_.at(std::chrono::steady_clock::now() + 24h * 365, [] {});

  ASSERT_TRUE(loop_.run_once());

  EXPECT_EQ(asked_timeout_ms, INT_MAX);
}

TEST_F(EventLoopTimersTest, DueTimersFireInTheOrderOfTheirTimes) {
  const Instant past = std::chrono::steady_clock::now() - 1s;
  loop_.at(past + 2ms, [&] { fired_.push_back(2); });
  loop_.at(past + 1ms, [&] { fired_.push_back(1); });
  loop_.at(past + 2ms, [&] { fired_.push_back(3); });
  loop_.at(past + 1h, [&] { fired_.push_back(4); });

  ASSERT_TRUE(loop_.run_once());

  EXPECT_EQ(asked_timeout_ms, 0);
  EXPECT_THAT(fired_, ElementsAre(1, 2, 3));
}

TEST_F(EventLoopTimersTest, ATimerMayCancelTheNextOne) {
  const Instant past = std::chrono::steady_clock::now() - 1s;
  EventLoop::TimerId second = 0;
  loop_.at(past, [&] {
    fired_.push_back(1);
    loop_.cancel(second);
  });
  second = loop_.at(past + 1ms, [&] { fired_.push_back(2); });

  ASSERT_TRUE(loop_.run_once());

  EXPECT_THAT(fired_, ElementsAre(1));
}

TEST_F(EventLoopTimersTest, ATimerThatRenewsItselfDoesNotHoldTheLoop) {
  const Instant past = std::chrono::steady_clock::now() - 1s;
  std::function<void()> again = [&] {
    fired_.push_back(static_cast<int>(fired_.size()));
    loop_.at(past, again);
  };
  loop_.at(past, again);

  ASSERT_TRUE(loop_.run_once());
  EXPECT_THAT(fired_, ElementsAre(0));

  ASSERT_TRUE(loop_.run_once());
  EXPECT_THAT(fired_, ElementsAre(0, 1));
}

TEST_F(EventLoopTimersTest, ACancelledTimerNeitherFiresNorShortensTheWait) {
  const auto timer = loop_.at(std::chrono::steady_clock::now() - 1s, [&] { fired_.push_back(1); });
  loop_.cancel(timer);

  ASSERT_TRUE(loop_.run_once());

  EXPECT_EQ(asked_timeout_ms, -1);
  EXPECT_THAT(fired_, IsEmpty());
}

TEST_F(EventLoopTimersTest, AnInterruptedPollIsAWakeUpWithoutEvents) {
  loop_.watch(0, POLLIN, [&](short) { fired_.push_back(1); });
  loop_.at(std::chrono::steady_clock::now() - 1s, [&] { fired_.push_back(2); });
  answer_errno = EINTR;

  EXPECT_TRUE(loop_.run_once());

  EXPECT_THAT(fired_, ElementsAre(2));
}

TEST_F(EventLoopTimersTest, ABrokenPollIsAnError) {
  answer_errno = ENOMEM;

  const auto result = loop_.run_once();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().sys_errno, ENOMEM);
}

TEST_F(EventLoopTimersTest, ADescriptorWithoutEventsIsLeftOutOfThePoll) {
  loop_.watch(0, POLLIN, [](short) {});
  loop_.watch(1, POLLOUT, [](short) {});
  loop_.set_events(1, 0);

  ASSERT_TRUE(loop_.run_once());

  EXPECT_EQ(asked_count, 1u);
}

}  // namespace
}  // namespace loom::host
