#include "host/caretaker_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "host/errno_text.h"

namespace loom::host {

namespace {

tl::unexpected<Error> step_failed(const char* step, int error) {
  return fail(ErrorCode::kSystem, std::string("caretaker: ") + step + ": " + errno_text(error),
              error);
}

// At most one descriptor has room in our buffer, so the kernel drops what else there is.
void take_ancillary(msghdr& message, ReceivedMessage& received) noexcept {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      received.lent.reset(fd);
    } else if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      received.sender = credentials.pid;
    }
  }
}

}  // namespace

Result<CaretakerPair> make_caretaker_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return step_failed("make a socket", errno);
  }
  CaretakerPair pair{.helper = UniqueFd(ends[0]), .caretaker = UniqueFd(ends[1])};
  const int on = 1;
  if (::setsockopt(pair.caretaker.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return step_failed("ask for credentials", errno);
  }
  return pair;
}

Result<std::optional<ReceivedMessage>> receive_message(int socket, int flags) {
  ReceivedMessage received;
  received.bytes.resize(kMaxCaretakerMessage);
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))>
      ancillary;
  iovec part{.iov_base = received.bytes.data(), .iov_len = received.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  ssize_t got = -1;
  // ECONNRESET says once that the other side went away with our answers unread. What it sent before
  // is still there.
  do {
    got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && errno == EAGAIN) return std::optional<ReceivedMessage>();
  if (got < 0) return step_failed("receive", errno);
  take_ancillary(message, received);
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kInvalidRequest, "caretaker: a message is too long");
  }
  received.closed = got == 0;
  received.bytes.resize(static_cast<std::size_t>(got));
  return std::optional(std::move(received));
}

Result<void> send_message(int socket, ByteView head, ByteView rest, int lent) {
  // sendmsg(2) only reads through these.
  std::array<iovec, 2> parts{
      iovec{.iov_base = const_cast<std::byte*>(head.data()), .iov_len = head.size()},
      iovec{.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = rest.size()}};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (lent >= 0) {
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof lent);
    std::memcpy(CMSG_DATA(header), &lent, sizeof lent);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return step_failed("send", errno);
  return {};
}

}  // namespace loom::host
