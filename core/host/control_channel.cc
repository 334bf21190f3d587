#include "host/control_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxRights = 253;  // of one message (unix(7))

tl::unexpected<Error> step_failed(const char* step, int error) {
  return fail(ErrorCode::kSystem,
              std::string("control channel: ") + step + ": " + errno_text(error), error);
}

// Nothing is ever lent to the host: a descriptor that arrives is closed.
void close_rights(const cmsghdr& header) noexcept {
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&header) + i * sizeof(int), sizeof fd);
    const UniqueFd unwanted(fd);
  }
}

// The sender, by the kernel's word; nothing when the message (or the end of file) carries none.
std::optional<pid_t> take_ancillary(msghdr& message) noexcept {
  std::optional<pid_t> sender;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) close_rights(*header);
    if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      sender = credentials.pid;
    }
  }
  return sender;
}

}  // namespace

Result<ControlPair> make_control_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return step_failed("make", errno);
  }
  ControlPair pair{.host = UniqueFd(ends[0]), .child = UniqueFd(ends[1])};
  const int on = 1;
  if (::setsockopt(pair.host.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return step_failed("ask for credentials", errno);
  }
  if (::fcntl(pair.host.get(), F_SETFL, O_NONBLOCK) != 0) return step_failed("set up", errno);
  return pair;
}

Result<ReceivedControl> receive_control(int host_end) {
  Bytes text(kMaxControlBytes);
  alignas(cmsghdr)
      std::array<std::byte, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMaxRights * sizeof(int))>
          ancillary;
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(host_end, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  if (got < 0 && error == EAGAIN) return ReceivedControl{};
  // ECONNRESET: the other side went away with our message unread.
  if (got < 0 && error == ECONNRESET) return ReceivedControl{.closed = true};
  if (got < 0) return step_failed("receive", error);

  const std::optional<pid_t> sender = take_ancillary(message);
  if (got == 0 && !sender) return ReceivedControl{.closed = true};
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kBackend, "control channel: a message is longer than " +
                                         std::to_string(kMaxControlBytes) + " bytes");
  }
  LOOM_TRY(ControlMessage decoded,
           decode_control_message(ByteView(text).first(static_cast<std::size_t>(got))));
  return ReceivedControl{.message = std::move(decoded), .sender = sender.value_or(0)};
}

Result<UniqueFd> make_commit(ByteView document) {
  return make_memory_file("loom-commit", document);
}

Result<void> send_commit(int host_end, int commit_file) {
  ControlMessage commit;
  commit.kind = ControlKind::kCommit;
  Bytes text = encode(commit);
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &commit_file, sizeof commit_file);
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(host_end, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return step_failed("send the commit", errno);
  return {};
}

}  // namespace loom::host
