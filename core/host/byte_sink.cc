#include "host/byte_sink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/joined_after.h"
#include "host/shared_terminal.h"

namespace loom::host {
namespace {

constexpr std::size_t kMaxPieces = 64;  // in one call

}  // namespace

Result<ByteSink> ByteSink::open(int fd, const Syscalls& syscalls) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem,
                "output descriptor " + std::to_string(fd) + ": " + errno_text(error), error);
  }
  ByteSink sink(fd, syscalls);
  // O_NONBLOCK on the descriptor itself would change it for everybody who shares it.
  const std::string again = "/proc/self/fd/" + std::to_string(fd);
  constexpr int kAgain = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  if (S_ISSOCK(about.st_mode)) {
    sink.way_ = Way::kSocket;
  } else if (S_ISCHR(about.st_mode) && ::isatty(fd) == 1) {
    if (!is_terminal_master(fd)) sink.own_.reset(::open(again.c_str(), kAgain));
    sink.way_ = sink.own_ ? Way::kOwnDevice : Way::kSharedTerminal;
  } else if (S_ISFIFO(about.st_mode)) {
    sink.own_.reset(::open(again.c_str(), kAgain));
    sink.way_ = sink.own_ ? Way::kOwnPipe : Way::kSharedPipe;
    // The more fits, the less often both sides wake. Refused where the user has too many such pages
    // (pipe(7)); then it stays as it was made.
    enlarge_pipe(fd, kPipeBytes);
  }
  return sink;
}

void ByteSink::push(Bytes bytes) {
  if (bytes.empty()) return;
  pending_ += bytes.size();
  // Small pieces share a block: a hundred thousand short replies must not cost as many allocations.
  constexpr std::size_t kBlockBytes = 4'096;
  if (!queue_.empty() && queue_.back().size() + bytes.size() <= kBlockBytes) {
    queue_.back().insert(queue_.back().end(), bytes.begin(), bytes.end());
    return;
  }
  queue_.push_back(std::move(bytes));
}

void ByteSink::push_or_write(std::span<const ByteView> pieces) {
  std::size_t written = 0;
  if (pending_ == 0 && way_ == Way::kOwnPipe) {
    written = static_cast<std::size_t>(std::max<ssize_t>(0, write_pieces(pieces)));
  }
  push(joined_after(written, pieces));
  // As for every pipe; not at the start, for a helper whose commands print little.
  if (pending_ > 0 && way_ == Way::kOwnPipe && !std::exchange(was_full_, true)) {
    enlarge_pipe(own_.get(), kFloodPipeBytes);
  }
}

ssize_t ByteSink::write_pieces(std::span<const ByteView> pieces) const {
  std::array<iovec, kMaxPieces> vectors;
  const std::size_t count = std::min(pieces.size(), vectors.size());
  for (std::size_t i = 0; i < count; ++i) {
    vectors[i] = {.iov_base = const_cast<std::byte*>(pieces[i].data()),
                  .iov_len = pieces[i].size()};
  }
  return ::writev(own_.get(), vectors.data(), static_cast<int>(count));
}

Result<void> ByteSink::flush() {
  while (pending_ > 0) {
    const ssize_t wrote = write_piece(ByteView(queue_.front()).subspan(head_offset_));
    const int error = errno;
    if (wrote < 0 && error == EINTR) continue;
    if (wrote < 0 && error == EAGAIN && can_wait()) return {};
    if (wrote < 0) return fail(ErrorCode::kSystem, "write output: " + errno_text(error), error);
    pending_ -= static_cast<std::size_t>(wrote);
    head_offset_ += static_cast<std::size_t>(wrote);
    if (head_offset_ == queue_.front().size()) {
      queue_.pop_front();
      head_offset_ = 0;
    }
  }
  return {};
}

// As write(2); EAGAIN where it would have to wait.
ssize_t ByteSink::write_piece(ByteView bytes) const {
  switch (way_) {
    case Way::kSocket:
      return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Way::kSharedPipe:
      return write_when_ready(bytes);
    case Way::kSharedTerminal:
      return write_shared_terminal(*syscalls_, fd_, bytes);
    case Way::kOwnPipe:
    case Way::kOwnDevice:
    case Way::kPlain:
      break;
  }
  return syscalls_->write(poll_fd(), bytes.data(), bytes.size());
}

// A pipe that polls writable takes PIPE_BUF bytes without waiting (pipe(7)).
ssize_t ByteSink::write_when_ready(ByteView bytes) const {
  pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
  const int count = syscalls_->poll(&ready, 1, 0);
  if (count < 0) return -1;
  if (count == 0) {
    errno = EAGAIN;
    return -1;
  }
  return syscalls_->write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

}  // namespace loom::host
