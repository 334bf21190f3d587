#include "host/packet_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "host/errno_text.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxRights = 253;  // of one packet (unix(7))

tl::unexpected<Error> step_failed(const char* channel, const char* step, int error) {
  return fail(ErrorCode::kSystem, std::string(channel) + ": " + step + ": " + errno_text(error),
              error);
}

// Owns each, so that those that nobody takes are closed.
void take_rights(const cmsghdr& header, Packet& packet) noexcept {
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(&header) + i * sizeof number, sizeof number);
    UniqueFd fd(number);
    if (!packet.lent) packet.lent = std::move(fd);
  }
}

void take_ancillary(msghdr& message, Packet& packet) noexcept {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_RIGHTS) take_rights(*header, packet);
    if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      packet.sender = credentials.pid;
    }
  }
}

}  // namespace

Result<PacketPair> make_packet_pair(const char* channel) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return step_failed(channel, "make", errno);
  }
  PacketPair pair{.informed = UniqueFd(ends[0]), .other = UniqueFd(ends[1])};
  const int on = 1;
  if (::setsockopt(pair.informed.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return step_failed(channel, "ask for credentials", errno);
  }
  return pair;
}

Result<std::optional<Packet>> receive_packet(const char* channel, int socket, std::size_t most,
                                             int flags) {
  Packet packet;
  packet.bytes.resize(most);
  alignas(cmsghdr)
      std::array<std::byte, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMaxRights * sizeof(int))>
          ancillary;
  iovec part{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  ssize_t got = -1;
  // ECONNRESET says once that the other side went away with packets of ours unread. What it sent
  // before is still there.
  do {
    got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && errno == EAGAIN) return std::optional<Packet>();
  if (got < 0) return step_failed(channel, "receive", errno);
  take_ancillary(message, packet);
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return fail(ErrorCode::kInvalidRequest, std::string(channel) + ": a message is longer than " +
                                                std::to_string(most) + " bytes");
  }
  packet.closed = got == 0 && !packet.sender;
  packet.bytes.resize(static_cast<std::size_t>(got));
  return std::optional(std::move(packet));
}

Result<void> send_packet(const char* channel, int socket, ByteView head, ByteView rest, int lent,
                         int also_lent) {
  // sendmsg(2) only reads through these.
  std::array<iovec, 2> parts{
      iovec{.iov_base = const_cast<std::byte*>(head.data()), .iov_len = head.size()},
      iovec{.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = rest.size()}};
  const std::array<int, 2> fds = {lent, also_lent};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof fds)> ancillary{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (lent >= 0) {
    const std::size_t size = also_lent >= 0 ? sizeof fds : sizeof lent;
    message.msg_control = ancillary.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), fds.data(), size);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return step_failed(channel, "send", errno);
  return {};
}

}  // namespace loom::host
