#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <cstddef>

namespace loom::host {

// Pairs of stream sockets, for whoever frames his messages himself. Writing to one whose other end
// is gone is EPIPE and no signal. Errors are kSystem and start with `channel`, a string literal,
// and the step.

struct StreamPair {
  UniqueFd one;
  UniqueFd other;
};
[[nodiscard]] Result<StreamPair> make_stream_pair(const char* channel);

// Makes sending and receiving on `socket` return at once. macOS does not take MSG_DONTWAIT for that
// when it sends.
[[nodiscard]] Result<void> set_nonblocking(const char* channel, int socket);

// Sends all of `bytes`, lending `lent` with the first of them (borrowed; -1: nothing). A socket
// that took a part only cannot be used any more: EAGAIN.
[[nodiscard]] Result<void> send_whole(const char* channel, int socket, ByteView bytes,
                                      int lent = -1);

// Up to `most` of the bytes that are there, and leaves them; does not wait. As recv(2): 0 at the
// end, -1 with errno EAGAIN while there is nothing.
[[nodiscard]] ssize_t peek(int socket, std::byte* bytes, std::size_t most) noexcept;
// Takes bytes that were seen.
void take(int socket, std::byte* bytes, std::size_t count) noexcept;

}  // namespace loom::host
