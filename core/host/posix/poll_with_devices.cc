// Sets of more than FD_SETSIZE descriptors (macOS select(2)); before any header.
#define _DARWIN_UNLIMITED_SELECT 1

#include "host/posix/poll_with_devices.h"

#include <fcntl.h>
#include <sys/select.h>
#include <sys/time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace loom::host {

namespace {

constexpr short kInput = POLLIN | POLLRDNORM;
constexpr short kOutput = POLLOUT | POLLWRNORM;

// A set as large as its highest descriptor needs; FD_SET knows only the first FD_SETSIZE.
class DescriptorSet {
 public:
  explicit DescriptorSet(int highest)
      : sets_(static_cast<std::size_t>(std::max(highest, 0)) / FD_SETSIZE + 1) {
    for (fd_set& one : sets_) FD_ZERO(&one);
  }
  void add(int fd) noexcept { byte_of(fd) |= bit_of(fd); }
  [[nodiscard]] bool has(int fd) noexcept { return (byte_of(fd) & bit_of(fd)) != 0; }
  [[nodiscard]] fd_set* get() noexcept { return sets_.data(); }

 private:
  [[nodiscard]] std::uint8_t& byte_of(int fd) noexcept {
    return reinterpret_cast<std::uint8_t*>(sets_.data())[static_cast<std::size_t>(fd) / 8];
  }
  [[nodiscard]] static std::uint8_t bit_of(int fd) noexcept {
    return static_cast<std::uint8_t>(1U << (static_cast<unsigned>(fd) % 8));
  }
  std::vector<fd_set> sets_;
};

bool is_open(int fd) noexcept { return fd >= 0 && ::fcntl(fd, F_GETFD) >= 0; }

int highest_of(const pollfd* fds, nfds_t count) noexcept {
  int highest = -1;
  for (nfds_t i = 0; i < count; ++i) highest = std::max(highest, fds[i].fd);
  return highest;
}

struct Sets {
  DescriptorSet readable;
  DescriptorSet writable;
};

// select(2) over everything, devices or not. As select, but nothing is ready after a time-out.
int select_all(const pollfd* fds, nfds_t count, int timeout_ms, Sets& sets) {
  for (nfds_t i = 0; i < count; ++i) {
    if (!is_open(fds[i].fd)) continue;
    if ((fds[i].events & kInput) != 0) sets.readable.add(fds[i].fd);
    if ((fds[i].events & kOutput) != 0) sets.writable.add(fds[i].fd);
  }
  timeval left{};
  left.tv_sec = timeout_ms / 1'000;
  left.tv_usec = (timeout_ms % 1'000) * 1'000;
  return ::select(highest_of(fds, count) + 1, sets.readable.get(), sets.writable.get(), nullptr,
                  timeout_ms < 0 ? nullptr : &left);
}

}  // namespace

int poll_with_devices(pollfd* fds, nfds_t count, int timeout_ms,
                      const std::vector<bool>& is_device) {
  const int highest = highest_of(fds, count);
  Sets sets{.readable = DescriptorSet(highest), .writable = DescriptorSet(highest)};
  if (select_all(fds, count, timeout_ms, sets) < 0) return -1;
  if (::poll(fds, count, 0) < 0) return -1;
  int ready = 0;
  for (nfds_t i = 0; i < count; ++i) {
    pollfd& one = fds[i];
    if (is_device[i] && is_open(one.fd)) {
      one.revents = 0;
      if (sets.readable.has(one.fd)) one.revents = static_cast<short>(one.events & kInput);
      if (sets.writable.has(one.fd)) {
        one.revents = static_cast<short>(one.revents | (one.events & kOutput));
      }
    }
    if (one.revents != 0) ++ready;
  }
  return ready;
}

}  // namespace loom::host
