#include "host/descriptors.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/errno_text.h"
#include "host/posix/open_descriptors.h"

namespace loom::host {

namespace {

tl::unexpected<Error> no_pipe(int error) {
  return fail(ErrorCode::kSystem, "pipe: " + errno_text(error), error);
}

bool set_nonblocking(const PipeEnds& pipe) noexcept {
  return ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK) == 0 &&
         ::fcntl(pipe.write_end.get(), F_SETFL, O_NONBLOCK) == 0;
}

}  // namespace

Result<PipeEnds> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return no_pipe(errno);
  PipeEnds pipe{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
  for (const int end : ends) {
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) return no_pipe(errno);
  }
  return pipe;
}

Result<PipeEnds> open_nonblocking_pipe() {
  LOOM_TRY(PipeEnds pipe, open_pipe());
  if (!set_nonblocking(pipe)) return no_pipe(errno);
  return pipe;
}

// A pipe grows by itself or not at all.
void enlarge_pipe(int, int) noexcept {}

// No pipe has packets, nor pieces of other sizes.
std::size_t most_in_pipe(int pipe) noexcept {
  int waits = 0;
  return ::ioctl(pipe, FIONREAD, &waits) == 0 ? static_cast<std::size_t>(std::max(0, waits)) : 0;
}

void close_descriptors_from(int first) noexcept {
  for (int fd = highest_descriptor(); fd >= first; --fd) ::close(fd);
}

void keep_descriptors_from(int first) noexcept {
  for (int fd = highest_descriptor(); fd >= first; --fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

bool is_only_a_name([[maybe_unused]] int fd_flags) noexcept {
#if defined(O_PATH)
  return (fd_flags & O_PATH) != 0;
#else
  return false;
#endif
}

// POLLIN is asked for too, or macOS would not look at the other side at all (poll_nocancel in
// bsd/kern/sys_generic.c registers a filter per event asked for). A socket that is closed in one
// direction only says so there and not everywhere.
bool is_hung_up(int fd) noexcept {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
#if defined(POLLRDHUP)
  one.events |= POLLRDHUP;
  constexpr short kGone = POLLRDHUP | POLLHUP | POLLERR;
#else
  constexpr short kGone = POLLHUP | POLLERR;
#endif
  return ::poll(&one, 1, 0) > 0 && (one.revents & kGone) != 0;
}

}  // namespace loom::host
