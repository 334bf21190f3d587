#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <cstring>
#include <optional>
#include <type_traits>

namespace loom::host {

inline constexpr std::size_t kMaxCaretakerMessage = 65'536;  // bytes, head included

// The caretaker's socket is a SOCK_SEQPACKET pair: messages arrive whole, and in order also from
// several senders.
struct CaretakerPair {
  UniqueFd helper;
  UniqueFd caretaker;  // learns who sent each message
};
[[nodiscard]] Result<CaretakerPair> make_caretaker_pair();

struct ReceivedMessage {
  bool closed = false;  // nobody has the other end open, and everything it held was received
  Bytes bytes{};
  pid_t sender = 0;  // by the kernel's word, in our pid namespace; the caretaker's end only
  UniqueFd lent{};   // the descriptor that came along, if any
};

// `flags` of recvmsg(2). Nothing when MSG_DONTWAIT found nothing. Fails with kSystem when the
// socket is broken and with kInvalidRequest for a message that is too long.
[[nodiscard]] Result<std::optional<ReceivedMessage>> receive_message(int socket, int flags);

// Does not wait: a full socket is EAGAIN. `lent` is borrowed; -1: none.
[[nodiscard]] Result<void> send_message(int socket, ByteView head, ByteView rest, int lent = -1);

// The plain struct at the start of a message; nothing when it is too short for one. What remains of
// `bytes` is what follows it.
template <class Head>
[[nodiscard]] std::optional<Head> take_head(ByteView& bytes) noexcept {
  static_assert(std::is_trivially_copyable_v<Head>);
  if (bytes.size() < sizeof(Head)) return std::nullopt;
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  return head;
}

template <class Head>
[[nodiscard]] ByteView head_bytes(const Head& head) noexcept {
  static_assert(std::has_unique_object_representations_v<Head>);
  return std::as_bytes(std::span(&head, 1));
}

}  // namespace loom::host
