#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "packed_writer.h"

namespace landlock::stage2 {
namespace {

// The numbers of loom::ControlKind.
constexpr std::uint32_t kReady = 1;
constexpr std::uint32_t kCommit = 2;
constexpr std::uint32_t kFailed = 3;

constexpr std::uint32_t kValueVersion = 1;
constexpr std::size_t kMaxMessage = 2'048;
constexpr std::size_t kMaxDetail = 1'024;
constexpr std::size_t kMaxDocument = 16'777'216;
constexpr std::size_t kMaxLine = 2'048;
constexpr int kRefused = 126;

void send_message(std::uint32_t kind, Step step, int error, std::string_view detail) noexcept {
  PackedWriter<kMaxMessage> out;
  out.map(5);
  out.text("v");
  out.number(kValueVersion);
  out.text("kind");
  out.number(kind);
  out.text("step");
  out.number(static_cast<std::uint32_t>(step));
  out.text("error");
  out.number(static_cast<std::uint32_t>(error));
  out.text("detail");
  out.text(detail.substr(0, kMaxDetail));
  while (::send(kControlFd, out.data(), out.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// One line for people, in which nothing of a file's name can pass for a line of its own.
class Line {
 public:
  void add(std::string_view words) noexcept {
    for (const char c : words) {
      const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
      if (size_ + 1 < text_.size()) text_[size_++] = printable ? c : '?';
    }
  }
  void write_to(int fd) noexcept {
    text_[size_++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(fd, text_.data(), size_);
  }

 private:
  std::array<char, kMaxLine> text_{};
  std::size_t size_ = 0;
};

char** pointers(std::size_t count) noexcept {
  void* const place = ::mmap(nullptr, (count + 1) * sizeof(char*), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<char**>(place);
}

char** read_list(PackedReader& in) noexcept {
  const std::size_t count = in.array();
  char** const list = pointers(count);
  for (std::size_t i = 0; list != nullptr && i < count; ++i) list[i] = in.text().data;
  return list;
}

struct Packet {
  std::array<char, kMaxMessage + 1> bytes{};
  std::size_t size = 0;
  int fd = -1;  // the only one that came
};

// Gives up on a packet with no descriptor or several.
Packet receive() noexcept {
  Packet packet;
  iovec data = {.iov_base = packet.bytes.data(), .iov_len = kMaxMessage};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> ancillary{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(kControlFd, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) give_up(Step::kCommit, "control channel", errno);
  if (size == 0) give_up(Step::kCommit, "no commit: the helper has gone", 0);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    give_up(Step::kCommit, "control message too long", 0);
  }
  packet.size = static_cast<std::size_t>(size);
  const cmsghdr* const part = CMSG_FIRSTHDR(&header);
  const bool one = part != nullptr && part->cmsg_level == SOL_SOCKET &&
                   part->cmsg_type == SCM_RIGHTS && part->cmsg_len == CMSG_LEN(sizeof(int));
  if (!one) give_up(Step::kCommit, "not a commit with one document", 0);
  ::memcpy(&packet.fd, CMSG_DATA(part), sizeof packet.fd);
  return packet;
}

bool is_commit(Packet& packet) noexcept {
  PackedReader in(packet.bytes.data(), packet.size);
  bool sound = in.map() == 5;
  in.key("v");
  sound = in.number() == kValueVersion && sound;
  in.key("kind");
  sound = in.number() == kCommit && sound;
  in.key("step");
  in.number();
  in.key("error");
  in.number();
  in.key("detail");
  in.text();
  return in.finish() && sound;
}

}  // namespace

void give_up(Step step, const char* thing, int error) noexcept {
  send_message(kFailed, step, error, thing);
  Line line;
  line.add("loom-exec[stage2]: ");
  line.add(thing);
  const char* const words = error != 0 ? ::strerrordesc_np(error) : nullptr;
  if (words != nullptr) {
    line.add(": ");
    line.add(words);
  }
  line.write_to(STDERR_FILENO);
  ::_exit(kRefused);
}

Document read_document(int fd, Step step, const char* name) noexcept {
  static constexpr int kNeededSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  struct stat about {};
  if (::fstat(fd, &about) != 0) give_up(step, name, errno);
  // Bytes that somebody may still change while they are read are no document.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kNeededSeals) != kNeededSeals) give_up(step, name, EPERM);
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > kMaxDocument) give_up(step, name, EFBIG);
  void* const place =
      ::mmap(nullptr, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) give_up(step, name, errno);
  char* const bytes = static_cast<char*>(place);
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd, bytes + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) give_up(step, name, got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
  ::close(fd);
  return {.bytes = bytes, .size = size};
}

bool decode_commit(Document document, Commit& commit) noexcept {
  PackedReader in(document.bytes, document.size);
  bool sound = in.map() == 8;
  in.key("v");
  sound = in.number() == kValueVersion && sound;
  in.key("argv");
  commit.argv = read_list(in);
  in.key("environment");
  commit.environment = read_list(in);
  in.key("cwd");
  commit.cwd = in.text().data;
  // What follows belongs to version 3 of policies, of which plan takes none.
  in.key("program");
  sound = in.text().size == 0 && sound;
  in.key("program_identity");
  sound = in.map() == 2 && sound;
  in.key("device");
  in.number();
  in.key("inode");
  in.number();
  in.key("exec_rules");
  sound = !in.boolean() && sound;
  in.key("scratch_runs");
  sound = !in.boolean() && sound;
  return in.finish() && sound && commit.argv != nullptr && commit.environment != nullptr &&
         commit.argv[0] != nullptr;
}

void send_ready() noexcept { send_message(kReady, Step::kDocument, 0, ""); }

Commit await_commit() noexcept {
  Packet packet = receive();
  if (!is_commit(packet)) give_up(Step::kCommit, "not a commit with one document", 0);
  Commit commit;
  if (!decode_commit(read_document(packet.fd, Step::kCommit, "commit document"), commit)) {
    give_up(Step::kCommit, "commit document: not one that can be kept", 0);
  }
  return commit;
}

}  // namespace landlock::stage2
