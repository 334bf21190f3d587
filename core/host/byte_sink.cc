#include "host/byte_sink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "host/errno_text.h"
#include "host/shared_terminal.h"

namespace loom::host {

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
    ::fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  }
  return sink;
}

void ByteSink::push(Bytes bytes) {
  if (bytes.empty()) return;
  pending_ += bytes.size();
  // Small pieces share a block: a hundred thousand short replies must not cost as many allocations.
  constexpr std::size_t kBlockBytes = 4'096;
  if (!queue_.empty() && queue_.back().staged == 0 &&
      queue_.back().bytes.size() + bytes.size() <= kBlockBytes) {
    queue_.back().bytes.insert(queue_.back().bytes.end(), bytes.begin(), bytes.end());
    return;
  }
  queue_.push_back({.bytes = std::move(bytes), .staged = 0});
}

bool ByteSink::open_staging() {
  if (staging_in_) return true;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  staging_out_.reset(ends[0]);
  staging_in_.reset(ends[1]);
  return true;
}

std::optional<std::size_t> ByteSink::stage(int pipe, std::size_t max_bytes) {
  if (!can_stage() || holds_staged()) return std::nullopt;
  if (!open_staging()) {
    staging_works_ = false;
    return std::nullopt;
  }
  const ssize_t moved =
      ::splice(pipe, nullptr, staging_in_.get(), nullptr, max_bytes, SPLICE_F_NONBLOCK);
  if (moved >= 0) return static_cast<std::size_t>(moved);
  if (errno != EAGAIN && errno != EINTR) staging_works_ = false;
  return std::nullopt;
}

void ByteSink::push_staged(std::size_t bytes) {
  pending_ += bytes;
  staged_ += bytes;
  queue_.push_back({.bytes = {}, .staged = bytes});
}

// As write(2) of what is left of the first piece.
ssize_t ByteSink::write_front() {
  const Piece& front = queue_.front();
  if (front.staged == 0) return write_piece(ByteView(front.bytes).subspan(head_offset_));
  const ssize_t moved = ::splice(staging_out_.get(), nullptr, own_.get(), nullptr,
                                 front.staged - head_offset_, SPLICE_F_NONBLOCK);
  if (moved > 0) staged_ -= static_cast<std::size_t>(moved);
  return moved;
}

Result<void> ByteSink::flush() {
  while (pending_ > 0) {
    const ssize_t wrote = write_front();
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
