#include "host/descriptors.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/errno_text.h"

namespace loom::host {

namespace {

Result<PipeEnds> make_pipe_with(int flags) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | flags) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "pipe: " + errno_text(error), error);
  }
  return PipeEnds{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

}  // namespace

Result<PipeEnds> open_pipe() { return make_pipe_with(0); }

Result<PipeEnds> open_nonblocking_pipe() { return make_pipe_with(O_NONBLOCK); }

void enlarge_pipe(int pipe, int bytes) noexcept {
  // It would shrink a larger one. Where the user may not have as much, half is better than nothing.
  for (const int has = ::fcntl(pipe, F_GETPIPE_SZ); has >= 0 && bytes > has; bytes /= 2) {
    if (::fcntl(pipe, F_SETPIPE_SZ, bytes) >= 0) return;
  }
}

std::size_t most_in_pipe(int pipe) noexcept {
  int waits = 0;
  if (::ioctl(pipe, FIONREAD, &waits) != 0) waits = 0;
  return static_cast<std::size_t>(std::max(0, waits)) +
         static_cast<std::size_t>(std::max(0, ::fcntl(pipe, F_GETPIPE_SZ)));
}

void close_descriptors_from(int first) noexcept {
  ::close_range(static_cast<unsigned>(first), ~0u, 0);
}

void keep_descriptors_from(int first) noexcept {
  ::close_range(static_cast<unsigned>(first), ~0u, CLOSE_RANGE_CLOEXEC);
}

bool is_only_a_name(int fd_flags) noexcept { return (fd_flags & O_PATH) != 0; }

bool is_hung_up(int fd) noexcept {
  pollfd one{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace loom::host
