#include "host/posix/stream_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "host/errno_text.h"

namespace loom::host {

namespace {

#if defined(MSG_NOSIGNAL)
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

tl::unexpected<Error> step_failed(const char* channel, const char* step, int error) {
  return fail(ErrorCode::kSystem, std::string(channel) + ": " + step + ": " + errno_text(error),
              error);
}

// Headers of macOS knew MSG_NOSIGNAL before its kernels did.
bool keep_quiet([[maybe_unused]] int socket) noexcept {
#if defined(SO_NOSIGPIPE)
  const int on = 1;
  return ::setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) == 0;
#else
  return true;
#endif
}

}  // namespace

Result<StreamPair> make_stream_pair(const char* channel) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) {
    return step_failed(channel, "make", errno);
  }
  StreamPair pair{.one = UniqueFd(ends[0]), .other = UniqueFd(ends[1])};
  for (const int end : ends) {
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0 || !keep_quiet(end)) {
      return step_failed(channel, "set up", errno);
    }
  }
  return pair;
}

Result<void> set_nonblocking(const char* channel, int socket) {
  if (::fcntl(socket, F_SETFL, O_NONBLOCK) != 0) return step_failed(channel, "set up", errno);
  return {};
}

Result<void> send_whole(const char* channel, int socket, ByteView bytes, int lent) {
  // sendmsg(2) only reads through this.
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof lent)> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (lent >= 0) {
    message.msg_control = ancillary.data();
    message.msg_controllen = CMSG_SPACE(sizeof lent);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof lent);
    std::memcpy(CMSG_DATA(header), &lent, sizeof lent);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, kNoSignal);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return step_failed(channel, "send", errno);
  if (static_cast<std::size_t>(sent) != bytes.size()) return step_failed(channel, "send", EAGAIN);
  return {};
}

ssize_t peek(int socket, std::byte* bytes, std::size_t most) noexcept {
  ssize_t got = -1;
  do {
    got = ::recv(socket, bytes, most, MSG_PEEK | MSG_DONTWAIT);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  return got;
}

void take(int socket, std::byte* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const ssize_t got = ::recv(socket, bytes, count, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
}

}  // namespace loom::host
