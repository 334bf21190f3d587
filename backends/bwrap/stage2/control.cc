#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace loom::bwrap {
namespace {

constexpr std::size_t kMaxReceivedFds = 8;  // room to see, and close, what is too much

bool is_packet_socket(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

// 0 or errno.
int send_packet(int control, const ControlMessage& message, int flags) {
  const Bytes bytes = encode(message);
  while (::send(control, bytes.data(), bytes.size(), MSG_NOSIGNAL | flags) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

struct Packet {
  Bytes bytes;
  std::vector<UniqueFd> fds;
};

void take_descriptors(msghdr& header, std::vector<UniqueFd>& out) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      ::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
}

StepResult<Packet> receive_packet(int control) {
  Packet packet;
  packet.bytes.resize(kMaxControlBytes);
  iovec data = {.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxReceivedFds * sizeof(int))> ancillary{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(control, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return stop(Stage2Step::kCommit, "control channel", errno);
  take_descriptors(header, packet.fds);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return stop(Stage2Step::kCommit, "control message too long");
  }
  packet.bytes.resize(static_cast<std::size_t>(size));
  return packet;
}

}  // namespace

StepResult<Bytes> read_sealed_file(int fd, Stage2Step step, const char* what) {
  static constexpr int kNeededSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return stop(step, what, errno);
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kNeededSeals) != kNeededSeals) {
    return stop(step, std::string(what) + " is not a sealed memory file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > kMaxDocumentBytes) return stop(step, what, EFBIG);
  Bytes bytes(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return stop(step, what, n < 0 ? errno : EIO);
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

void send_here(int control) noexcept {
  ControlMessage message;
  message.kind = ControlKind::kHere;
  send_packet(control, message, MSG_DONTWAIT);
}

StepResult<void> send_ready(int control) {
  ControlMessage message;
  message.kind = ControlKind::kReady;
  const int error = send_packet(control, message, 0);
  if (error != 0) return stop(Stage2Step::kCommit, "control channel", error);
  return {};
}

void send_failed(int control, const Failure& failure) noexcept {
  if (!is_packet_socket(control)) return;
  const ControlMessage message{.kind = ControlKind::kFailed,
                               .step = failure.step,
                               .error = failure.error,
                               .detail = failure.thing};
  send_packet(control, message, MSG_DONTWAIT);
}

StepResult<Commit> await_commit(int control) {
  static constexpr std::size_t kMostDescriptors = 2;
  LOOM_TRY(Packet packet, receive_packet(control));
  if (packet.bytes.empty()) return stop(Stage2Step::kCommit, "no commit: the helper has gone");
  const auto message = decode_control_message(packet.bytes);
  if (!message) return stop(Stage2Step::kCommit, message.error().message);
  const std::size_t lent = packet.fds.size();
  if (message->kind != ControlKind::kCommit || lent == 0 || lent > kMostDescriptors) {
    return stop(Stage2Step::kCommit, "not a commit with one document");
  }
  LOOM_TRY(const Bytes bytes,
           read_sealed_file(packet.fds.front().get(), Stage2Step::kCommit, "commit document"));
  auto document = decode_commit_document(bytes);
  if (!document) return stop(Stage2Step::kCommit, document.error().message);
  Commit commit{.document = std::move(*document), .exec_rules = {}};
  if (lent == kMostDescriptors) commit.exec_rules = std::move(packet.fds.back());
  if (commit.document.exec_rules && !commit.exec_rules) {
    return stop(Stage2Step::kExecRules, "the rule set did not come");
  }
  if (!commit.document.exec_rules && commit.exec_rules) {
    return stop(Stage2Step::kCommit, "a descriptor that the document does not speak of");
  }
  return commit;
}

StepResult<void> send_confined(int control) {
  ControlMessage message;
  message.kind = ControlKind::kConfined;
  const int error = send_packet(control, message, 0);
  if (error != 0) return stop(Stage2Step::kExecRules, "control channel", error);
  return {};
}

}  // namespace loom::bwrap
