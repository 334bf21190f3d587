#include "host/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "process_support.h"

namespace loom::host {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EventLoopTest : public ::testing::Test {
 protected:
  EventLoopTest() {
    // One byte in each: both are readable.
    EXPECT_EQ(::write(first_.write.get(), "x", 1), 1);
    EXPECT_EQ(::write(second_.write.get(), "x", 1), 1);
  }

  int first() const { return first_.read.get(); }
  int second() const { return second_.read.get(); }
  EventLoop::Handler note(int number) {
    return [this, number](short) { seen_.push_back(number); };
  }
  void run() {
    loop_.at(std::chrono::steady_clock::now() + 5s, [] { FAIL() << "nothing became ready"; });
    ASSERT_TRUE(loop_.run_once());
  }

  Pipe first_ = make_pipe();
  Pipe second_ = make_pipe();
  EventLoop loop_;
  std::vector<int> seen_;
};

TEST_F(EventLoopTest, HandlersRunInTheOrderOfTheirFirstWatch) {
  loop_.watch(second(), POLLIN, note(2));
  loop_.watch(first(), POLLIN, note(1));
  loop_.watch(second(), POLLIN, note(3));  // replaces in the same place

  run();

  EXPECT_THAT(seen_, ElementsAre(3, 1));
}

TEST_F(EventLoopTest, AHandlerMayForgetTheNextOne) {
  loop_.watch(first(), POLLIN, [this](short) {
    seen_.push_back(1);
    loop_.forget(second());
  });
  loop_.watch(second(), POLLIN, note(2));

  run();

  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(EventLoopTest, AHandlerMayForgetItselfAndIsNotCalledAgain) {
  loop_.watch(first(), POLLIN, [this](short) {
    loop_.forget(first());
    seen_.push_back(1);  // still alive while it runs
  });
  loop_.watch(second(), POLLIN, note(2));

  run();
  run();

  EXPECT_THAT(seen_, ElementsAre(1, 2, 2));
}

// The number of a closed descriptor is given to the next one opened: the event was the old one's.
TEST_F(EventLoopTest, AnEventOfTheOldRegistrationDoesNotReachTheNewOne) {
  loop_.watch(first(), POLLIN, [this](short) {
    seen_.push_back(1);
    loop_.forget(second());
    loop_.watch(second(), POLLIN, note(9));
  });
  loop_.watch(second(), POLLIN, note(2));

  run();

  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(EventLoopTest, AHandlerMayReplaceItself) {
  loop_.watch(first(), POLLIN, [this](short) {
    seen_.push_back(1);
    loop_.watch(first(), POLLIN, note(7));
  });

  run();
  run();

  EXPECT_THAT(seen_, ElementsAre(1, 7));
}

TEST_F(EventLoopTest, AHandlerMayWatchManyMore) {
  std::vector<Pipe> more(50);
  loop_.watch(first(), POLLIN, [&](short) {
    seen_.push_back(1);
    for (auto& pipe : more) {
      pipe = make_pipe();
      loop_.watch(pipe.read.get(), POLLIN, note(5));
    }
  });
  loop_.watch(second(), POLLIN, note(2));

  run();

  EXPECT_THAT(seen_, ElementsAre(1, 2));
}

TEST_F(EventLoopTest, TakingEventsAwayDuringTheWakeUpHoldsAtOnce) {
  loop_.watch(first(), POLLIN, [this](short) { loop_.set_events(second(), 0); });
  loop_.watch(second(), POLLIN, note(2));

  run();

  EXPECT_THAT(seen_, IsEmpty());
  loop_.forget(first());
  loop_.set_events(second(), POLLIN);
  run();
  EXPECT_THAT(seen_, ElementsAre(2));
}

TEST_F(EventLoopTest, AHangUpIsDeliveredUnasked) {
  short got = 0;
  first_.write.reset();
  loop_.watch(first(), POLLIN, [&](short revents) { got = revents; });

  run();

  EXPECT_NE(got & POLLHUP, 0);
}

TEST_F(EventLoopTest, ATimerEndsTheWaitNotBeforeItsTime) {
  Pipe silent = make_pipe();
  loop_.watch(silent.read.get(), POLLIN, note(1));
  const Instant when = std::chrono::steady_clock::now() + 20ms;
  loop_.at(when, [this] { seen_.push_back(2); });

  ASSERT_TRUE(loop_.run_once());

  EXPECT_THAT(seen_, ElementsAre(2));
  EXPECT_GE(std::chrono::steady_clock::now(), when);
}

TEST_F(EventLoopTest, DescriptorsComeBeforeTimersInOneWakeUp) {
  loop_.at(std::chrono::steady_clock::now() - 1s, [this] { seen_.push_back(2); });
  loop_.watch(first(), POLLIN, note(1));

  run();

  EXPECT_THAT(seen_, ElementsAre(1, 2));
}

}  // namespace
}  // namespace loom::host
