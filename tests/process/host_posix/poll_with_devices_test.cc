// What waits for devices on macOS, tried here with pipes in their place and a real device.

#include "host/posix/poll_with_devices.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "process_support.h"

namespace loom::host {
namespace {

using Clock = std::chrono::steady_clock;

TEST(PollWithDevicesTest, ADeviceThatIsReadyEndsTheWait) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Pipe quiet = make_pipe();
  std::array<pollfd, 2> fds{pollfd{.fd = quiet.read.get(), .events = POLLIN, .revents = 0},
                            pollfd{.fd = null.get(), .events = POLLIN, .revents = POLLNVAL}};

  EXPECT_EQ(poll_with_devices(fds.data(), fds.size(), 10'000, {false, true}), 1);

  EXPECT_EQ(fds[0].revents, 0);
  EXPECT_EQ(fds[1].revents, POLLIN);
}

TEST(PollWithDevicesTest, AQuietDeviceDoesNotSpinAndDoesNotHideOthers) {
  const Pipe device = make_pipe();
  const Pipe other = make_pipe();
  std::array<pollfd, 2> fds{pollfd{.fd = device.read.get(), .events = POLLIN, .revents = POLLNVAL},
                            pollfd{.fd = other.read.get(), .events = POLLIN, .revents = 0}};
  const auto began = Clock::now();

  EXPECT_EQ(poll_with_devices(fds.data(), fds.size(), 50, {true, false}), 0);

  EXPECT_GE(Clock::now() - began, std::chrono::milliseconds(45));
  EXPECT_EQ(fds[0].revents, 0);
  ASSERT_EQ(::write(other.write.get(), "x", 1), 1);
  EXPECT_EQ(poll_with_devices(fds.data(), fds.size(), 10'000, {true, false}), 1);
  EXPECT_EQ(fds[0].revents, 0);
  EXPECT_EQ(fds[1].revents, POLLIN);
}

TEST(PollWithDevicesTest, AHangUpOfSomethingElseIsSeenAsEver) {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Pipe other = make_pipe();
  other.write.reset();
  std::array<pollfd, 2> fds{pollfd{.fd = null.get(), .events = POLLOUT, .revents = POLLNVAL},
                            pollfd{.fd = other.read.get(), .events = POLLIN, .revents = 0}};

  EXPECT_EQ(poll_with_devices(fds.data(), fds.size(), -1, {true, false}), 2);

  EXPECT_EQ(fds[0].revents, POLLOUT);
  EXPECT_NE(fds[1].revents & POLLHUP, 0);
}

TEST(PollWithDevicesTest, AClosedDescriptorStaysInvalidAndANegativeOneIgnored) {
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const UniqueFd high(::fcntl(zero.get(), F_DUPFD_CLOEXEC, 900));
  ASSERT_TRUE(high);
  Pipe gone = make_pipe();
  const int number = gone.read.get();
  gone.read.reset();
  std::array<pollfd, 3> fds{pollfd{.fd = number, .events = POLLIN, .revents = POLLNVAL},
                            pollfd{.fd = -1, .events = POLLIN, .revents = 0},
                            pollfd{.fd = high.get(), .events = POLLIN, .revents = POLLNVAL}};

  EXPECT_EQ(poll_with_devices(fds.data(), fds.size(), -1, {false, false, true}), 2);

  EXPECT_EQ(fds[0].revents, POLLNVAL);
  EXPECT_EQ(fds[1].revents, 0);
  EXPECT_EQ(fds[2].revents, POLLIN);
}

}  // namespace
}  // namespace loom::host
