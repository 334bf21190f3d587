#include "host/control_channel.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/memory_file.h"
#include "host/posix/stream_socket.h"

namespace loom::host {

namespace {

constexpr const char* kChannel = "control channel";
constexpr const char* kCommitFile = "loom-commit";
// Each message: its length as four bytes, the lowest first, and the message.
constexpr std::size_t kLengthBytes = 4;
using Frame = std::array<std::byte, kLengthBytes + kMaxControlBytes>;

std::size_t length_of(const Frame& frame) noexcept {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i > 0; --i) {
    length = length << 8U | std::to_integer<std::size_t>(frame[i - 1]);
  }
  return length;
}

Bytes framed(const Bytes& message) {
  Bytes frame;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame.push_back(static_cast<std::byte>(message.size() >> (8 * i) & 0xffU));
  }
  frame.insert(frame.end(), message.begin(), message.end());
  return frame;
}

// The whole of the next message as it lies in the socket, or nothing of it: what is only looked at
// needs no state of ours between two calls. Its size; 0 while it is incomplete.
Result<std::size_t> look_at_frame(int socket, Frame& frame, bool& closed) {
  const ssize_t got = peek(socket, frame.data(), frame.size());
  closed = got == 0;
  if (got < 0 && errno != EAGAIN) {
    const int error = errno;
    return fail(ErrorCode::kSystem, std::string(kChannel) + ": receive: " + errno_text(error),
                error);
  }
  const std::size_t seen = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (seen < kLengthBytes) return std::size_t{0};
  const std::size_t length = length_of(frame);
  if (length > kMaxControlBytes) {
    return fail(ErrorCode::kInvalidRequest, std::string(kChannel) + ": a message is longer than " +
                                                std::to_string(kMaxControlBytes) + " bytes");
  }
  return seen < kLengthBytes + length ? 0 : kLengthBytes + length;
}

}  // namespace

Result<ControlPair> make_control_pair() {
  LOOM_TRY(StreamPair pair, make_stream_pair(kChannel));
  LOOM_TRY_VOID(set_nonblocking(kChannel, pair.one.get()));
  return ControlPair{.host = std::move(pair.one), .child = std::move(pair.other)};
}

// Nothing is ever lent to the host: a descriptor that arrives is closed by the kernel, as nobody
// offers room for it.
Result<ReceivedControl> receive_control(int host_end) {
  Frame frame;
  bool closed = false;
  LOOM_TRY(std::size_t size, look_at_frame(host_end, frame, closed));
  if (size == 0 && !closed && is_hung_up(host_end)) {
    // A part of a message stays a part; but the rest may have come together with the end.
    LOOM_TRY(size, look_at_frame(host_end, frame, closed));
    closed = closed || size == 0;
  }
  if (closed) return ReceivedControl{.closed = true};
  if (size == 0) return ReceivedControl{};
  take(host_end, frame.data(), size);
  LOOM_TRY(ControlMessage decoded,
           decode_control_message(ByteView(frame.data(), size).subspan(kLengthBytes)));
  return ReceivedControl{.message = std::move(decoded), .sender = 0};
}

Result<UniqueFd> begin_commit() { return begin_memory_file(kCommitFile); }

Result<UniqueFd> make_commit(UniqueFd begun, ByteView document) {
  return finish_memory_file(kCommitFile, std::move(begun), document);
}

Result<void> send_commit(int host_end, int commit_file, int exec_rules) {
  if (exec_rules >= 0) {
    return fail(ErrorCode::kUnsupported, "control channel: no exec rule set on this system");
  }
  ControlMessage commit;
  commit.kind = ControlKind::kCommit;
  return send_whole(kChannel, host_end, framed(encode(commit)), commit_file);
}

}  // namespace loom::host
