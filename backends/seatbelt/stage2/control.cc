#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace loom::seatbelt {
namespace {

constexpr const char* kChannel = "control channel";
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kMaxReceivedFds = 8;  // room to see, and close, what is too much

bool is_stream_socket(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// 0 or errno. With MSG_DONTWAIT a message may get lost, or cut short; the host then finds the end
// of the stream within it. SIGPIPE is ignored by all of stage 2.
int send_message(int control, const ControlMessage& message, int flags) {
  const Bytes body = encode(message);
  Bytes frame;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame.push_back(static_cast<std::byte>((body.size() >> (8 * i)) & 0xFFU));
  }
  frame.insert(frame.end(), body.begin(), body.end());
  std::size_t done = 0;
  while (done < frame.size()) {
    const ssize_t n = ::send(control, frame.data() + done, frame.size() - done, flags);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

// There is no MSG_CMSG_CLOEXEC on macOS. Nothing else runs here that could fork in between.
void take_descriptors(msghdr& header, std::vector<UniqueFd>& out) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      ::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
      out.emplace_back(fd);
    }
  }
}

// As many bytes as `into` has, or fewer at the end of the stream.
StepResult<std::size_t> receive_bytes(int control, std::span<std::byte> into,
                                      std::vector<UniqueFd>& fds) {
  std::size_t done = 0;
  while (done < into.size()) {
    iovec data = {.iov_base = into.data() + done, .iov_len = into.size() - done};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxReceivedFds * sizeof(int))> ancillary{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
    const ssize_t n = ::recvmsg(control, &header, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return stop(Stage2Step::kCommit, kChannel, errno);
    take_descriptors(header, fds);
    if ((header.msg_flags & MSG_CTRUNC) != 0) {
      return stop(Stage2Step::kCommit, "control message with too many descriptors");
    }
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

struct Message {
  Bytes bytes;
  std::vector<UniqueFd> fds;
};

StepResult<Message> receive_message(int control) {
  Message message;
  std::array<std::byte, kLengthBytes> prefix{};
  LOOM_TRY(const std::size_t got, receive_bytes(control, prefix, message.fds));
  if (got == 0) return stop(Stage2Step::kCommit, "no commit: the helper has gone");
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    size |= std::to_integer<std::size_t>(prefix[i]) << (8 * i);
  }
  if (got == kLengthBytes && size > kMaxControlBytes) {
    return stop(Stage2Step::kCommit, "control message too long");
  }
  message.bytes.resize(got == kLengthBytes ? size : 0);
  LOOM_TRY(const std::size_t read, receive_bytes(control, message.bytes, message.fds));
  if (got < kLengthBytes || read < size) {
    return stop(Stage2Step::kCommit, "control message cut short: the helper has gone");
  }
  return message;
}

}  // namespace

StepResult<Bytes> read_document_file(int fd, Stage2Step step, const char* what) {
  static constexpr std::size_t kPiece = 65'536;
  Bytes bytes;
  for (;;) {
    const std::size_t done = bytes.size();
    bytes.resize(done + kPiece);
    const ssize_t n = ::read(fd, bytes.data() + done, kPiece);
    const int error = errno;
    bytes.resize(done + (n > 0 ? static_cast<std::size_t>(n) : 0));
    if (n < 0 && error == EINTR) continue;
    if (n < 0) return stop(step, what, error);
    if (n == 0) return bytes;
    if (bytes.size() > kMaxDocumentBytes) return stop(step, what, EFBIG);
  }
}

void send_here(int control) noexcept {
  ControlMessage message;
  message.kind = ControlKind::kHere;
  send_message(control, message, MSG_DONTWAIT);
}

StepResult<void> send_ready(int control) {
  ControlMessage message;
  message.kind = ControlKind::kReady;
  const int error = send_message(control, message, 0);
  if (error != 0) return stop(Stage2Step::kCommit, kChannel, error);
  return {};
}

void send_failed(int control, const Failure& failure) noexcept {
  if (!is_stream_socket(control)) return;
  const ControlMessage message{.kind = ControlKind::kFailed,
                               .step = failure.step,
                               .error = failure.error,
                               .detail = failure.thing};
  send_message(control, message, MSG_DONTWAIT);
}

StepResult<CommitDocument> await_commit(int control) {
  LOOM_TRY(const Message received, receive_message(control));
  const auto message = decode_control_message(received.bytes);
  if (!message) return stop(Stage2Step::kCommit, message.error().message);
  if (message->kind != ControlKind::kCommit || received.fds.size() != 1) {
    return stop(Stage2Step::kCommit, "not a commit with one document");
  }
  LOOM_TRY(const Bytes bytes,
           read_document_file(received.fds.front().get(), Stage2Step::kCommit, "commit document"));
  auto document = decode_commit_document(bytes);
  if (!document) return stop(Stage2Step::kCommit, document.error().message);
  if (document->exec_rules) {
    return stop(Stage2Step::kExecRules, "a rule set, which this system does not have");
  }
  return std::move(*document);
}

}  // namespace loom::seatbelt
