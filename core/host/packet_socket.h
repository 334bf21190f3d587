#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <optional>

namespace loom::host {

// Pairs of SOCK_SEQPACKET sockets (unix(7)): a packet arrives whole, in order also from several
// senders, and can lend one descriptor. Errors are kSystem and start with `channel`, which is a
// string literal, and the step.

struct PacketPair {
  UniqueFd informed;  // learns who sent each packet
  UniqueFd other;
};
[[nodiscard]] Result<PacketPair> make_packet_pair(const char* channel);

struct Packet {
  bool closed = false;  // nobody has the other end open, and everything it held was received
  Bytes bytes{};
  std::optional<pid_t> sender{};  // by the kernel's word, in our pid namespace; `informed` only
  UniqueFd lent{};                // the first descriptor that came along; others were closed
};

// `flags` of recvmsg(2). Nothing when MSG_DONTWAIT found nothing. Fails with kInvalidRequest for a
// packet of more than `most` bytes, which is lost then, and nothing else is.
[[nodiscard]] Result<std::optional<Packet>> receive_packet(const char* channel, int socket,
                                                           std::size_t most, int flags);

// Does not wait: a full socket is EAGAIN. The packet is `head` and `rest`. `lent` and, after it,
// `also_lent` are borrowed; -1: none.
[[nodiscard]] Result<void> send_packet(const char* channel, int socket, ByteView head,
                                       ByteView rest, int lent = -1, int also_lent = -1);

}  // namespace loom::host
