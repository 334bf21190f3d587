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
#include "host/joined_after.h"
#include "host/shared_terminal.h"

namespace loom::host {

namespace {

// What a stream socket that polls writable takes without waiting: the low-water mark of its buffer
// (SO_SNDLOWAT; 2,048 on macOS, which sends no less however it is asked not to wait).
constexpr std::size_t kSocketPiece = 2'048;

#if defined(MSG_NOSIGNAL)
constexpr int kQuietly = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kQuietly = MSG_DONTWAIT;
#endif

// A terminal polls writable as soon as anything fits, and a write(2) of more waits for the rest. It
// has a name, so that there is a description of our own that does not.
UniqueFd open_terminal(int fd, const struct stat& about) {
  if (is_terminal_master(fd)) return {};
  char name[PATH_MAX];
  if (::ttyname_r(fd, name, sizeof name) != 0) return {};
  UniqueFd own(::open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat opened {};
  const bool same = own && ::fstat(own.get(), &opened) == 0 && S_ISCHR(opened.st_mode) &&
                    opened.st_rdev == about.st_rdev;
  return same ? std::move(own) : UniqueFd();
}

}  // namespace

// O_NONBLOCK on the descriptor would change it for everybody who shares it, and there is no way to
// a description of our own but by name: every piece is written after a poll, and is small enough
// then.
Result<ByteSink> ByteSink::open(int fd, const Syscalls& syscalls) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem,
                "output descriptor " + std::to_string(fd) + ": " + errno_text(error), error);
  }
  ByteSink sink(fd, syscalls);
  if (S_ISSOCK(about.st_mode)) {
    sink.way_ = Way::kSocket;
  } else if (S_ISFIFO(about.st_mode)) {
    sink.way_ = Way::kSharedPipe;
  } else if (S_ISCHR(about.st_mode) && ::isatty(fd) == 1) {
    sink.own_ = open_terminal(fd, about);
    sink.way_ = sink.own_ ? Way::kOwnDevice : Way::kSharedTerminal;
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

void ByteSink::push_or_write(std::span<const ByteView> pieces) { push(joined_after(0, pieces)); }

Result<void> ByteSink::flush() {
  while (pending_ > 0) {
    const ssize_t wrote = write_piece(ByteView(queue_.front()).subspan(head_offset_));
    const int error = errno;
    if (wrote < 0 && error == EINTR) continue;
    const bool later = error == EAGAIN || error == ENOBUFS;
    if (wrote < 0 && later && can_wait()) return {};
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

// A pipe that polls writable takes PIPE_BUF bytes without waiting. An error or a hang-up is what
// the write then says.
ssize_t ByteSink::write_when_ready(ByteView bytes) const {
  pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
  const int count = syscalls_->poll(&ready, 1, 0);
  if (count < 0) return -1;
  if (count == 0) {
    errno = EAGAIN;
    return -1;
  }
  if (way_ == Way::kSocket) {
    return ::send(fd_, bytes.data(), std::min(bytes.size(), kSocketPiece), kQuietly);
  }
  return syscalls_->write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

}  // namespace loom::host
