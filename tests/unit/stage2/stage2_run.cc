#include "stage2_run.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

namespace loom::bwrap {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kArgumentsFd = 10;  // bubblewrap's options
constexpr int kImageFd = 20;      // stage 2 itself
constexpr int kLifted = 30;       // above every number that the child moves something to
constexpr const char* kStage2 = LOOM_BINARY_DIR "/libexec/loom-exec/bwrap-stage2";

struct Move {
  int from;
  int to;
};

UniqueFd lift(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, kLifted)); }

std::string read_whole(int fd) {
  std::string text;
  std::array<char, 4'096> piece{};
  off_t at = 0;
  for (ssize_t n = 0; (n = ::pread(fd, piece.data(), piece.size(), at)) > 0; at += n) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::vector<std::string> make_argv(const Start& start) {
  const std::string image = "/proc/self/fd/" + std::to_string(kImageFd);
  if (start.launcher.empty()) return {image};
  return {"bwrap", "--args", std::to_string(kArgumentsFd), image};
}

[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<Move>& moves,
                         const Start& start) {
  for (const Move& move : moves) ::dup2(move.from, move.to);
  if (start.in_child) start.in_child();
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(99);
}

}  // namespace

Stage2Run::Stage2Run(const PrepareDocument& document, const Start& start) {
  launch(encode(document), start);
}

Stage2Run::Stage2Run(const Bytes& document, const Start& start) { launch(document, start); }

Stage2Run::~Stage2Run() {
  hang_up();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Stage2Run::launch(const Bytes& document, const Start& start) {
  std::string options;
  for (const std::string& option : start.launcher) options.append(option).push_back('\0');
  std::array<int, 2> report{};
  std::array<int, 2> control{};
  ASSERT_EQ(::pipe2(report.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control.data()), 0);
  report_.reset(report[0]);
  control_.reset(control[0]);
  out_.reset(::memfd_create("out", MFD_CLOEXEC));
  err_.reset(::memfd_create("err", MFD_CLOEXEC));
  const UniqueFd report_end(report[1]);
  const UniqueFd control_end(control[1]);
  const UniqueFd image(::open(kStage2, O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(image) << kStage2;

  const UniqueFd lifted_document = lift(make_memory_file(document).get());
  const UniqueFd lifted_options = lift(make_memory_file(as_bytes(options)).get());
  const UniqueFd lifted_report = lift(report_end.get());
  const UniqueFd lifted_control = lift(control_end.get());
  const UniqueFd lifted_image = lift(image.get());
  const UniqueFd lifted_out = lift(out_.get());
  const UniqueFd lifted_err = lift(err_.get());
  std::vector<Move> moves = {{lifted_out.get(), 1},      {lifted_err.get(), 2},
                             {lifted_document.get(), 3}, {lifted_report.get(), 4},
                             {lifted_control.get(), 5},  {lifted_image.get(), kImageFd}};
  if (!start.launcher.empty()) moves.push_back({lifted_options.get(), kArgumentsFd});
  const std::vector<std::string> argv = make_argv(start);
  pid_ = ::fork();
  ASSERT_GE(pid_, 0);
  if (pid_ == 0) become(argv, moves, start);
}

Bytes Stage2Run::read_report() {
  Bytes bytes;
  std::array<std::byte, 4'096> piece{};
  for (;;) {
    pollfd wait{.fd = report_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, kPatienceMs) <= 0) break;
    const ssize_t n = ::read(report_.get(), piece.data(), piece.size());
    if (n <= 0) break;
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + n);
  }
  return bytes;
}

std::optional<ControlMessage> Stage2Run::receive() {
  Bytes bytes(kMaxControlBytes);
  pollfd wait{.fd = control_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, kPatienceMs) <= 0) return std::nullopt;
  const ssize_t n = ::recv(control_.get(), bytes.data(), bytes.size(), 0);
  if (n <= 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(n));
  auto message = decode_control_message(bytes);
  if (!message) return std::nullopt;
  if (message->kind == ControlKind::kHere) return receive();
  return std::move(*message);
}

std::optional<InnerReport> Stage2Run::await_ready() {
  auto report = decode_inner_report(read_report());
  const auto message = receive();
  if (!report || !message || message->kind != ControlKind::kReady) return std::nullopt;
  return std::move(*report);
}

void Stage2Run::commit(const CommitDocument& document, int exec_rules) {
  const UniqueFd file = make_memory_file(encode(document));
  std::vector<int> fds = {file.get()};
  if (exec_rules >= 0) fds.push_back(exec_rules);
  send_commit(fds);
}

void Stage2Run::send_commit(const std::vector<int>& fds) {
  static constexpr std::size_t kMost = 4;
  const std::size_t bytes_of_fds = fds.size() * sizeof(int);
  ASSERT_LE(fds.size(), kMost);
  ControlMessage message;
  message.kind = ControlKind::kCommit;
  Bytes bytes = encode(message);
  iovec data{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMost * sizeof(int))> ancillary{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(bytes_of_fds);
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    ASSERT_NE(part, nullptr);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(bytes_of_fds);
    ::memcpy(CMSG_DATA(part), fds.data(), bytes_of_fds);
  }
  ASSERT_GE(::sendmsg(control_.get(), &header, MSG_NOSIGNAL), 0) << ::strerror(errno);
}

Ended Stage2Run::wait() {
  hang_up();  // one that still waits for a commit must end, or a failing test would never
  Ended ended;
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = read_whole(out_.get());
  ended.err = read_whole(err_.get());
  return ended;
}

UniqueFd make_memory_file(ByteView bytes, bool sealed) {
  UniqueFd file(::memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::lseek(file.get(), 0, SEEK_SET);
  if (sealed) {
    EXPECT_EQ(
        ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
        0);
  }
  return file;
}

PrepareDocument plain_document() {
  PrepareDocument document;
  document.landlock_reason = "not asked for";
  return document;
}

Ended run_command_with(const PrepareDocument& document, const CommitDocument& command,
                       const Start& start) {
  Stage2Run run(document, start);
  if (run.await_ready()) run.commit(command);
  return run.wait();
}

CommitDocument shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}, .cwd = "/"};
}

void forget_new_calls() {
  std::array<sock_filter, 5> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog header{.len = program.size(), .filter = program.data()};
  const bool done = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                    ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) == 0 &&
                    ::syscall(SYS_close_range, ~0U, ~0U, 0) != 0 && errno == ENOSYS;
  if (!done) ::_exit(97);
}

std::function<void()> withhold(std::vector<long> calls) {
  return [calls = std::move(calls)] {
    std::vector<sock_filter> program = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const long call : calls) {
      const auto number = static_cast<std::uint32_t>(call);
      if (call == SYS_prctl) {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
        program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NO_NEW_PRIVS, 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO));
        program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
      } else {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO));  // with errno 0
      }
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog header{.len = static_cast<unsigned short>(program.size()),
                            .filter = program.data()};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) != 0) ::_exit(97);
  };
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = "/tmp/loom-stage2-XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = std::filesystem::canonical(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryDirectory::write(const std::string& name, const std::string& text,
                               unsigned mode) const {
  std::ofstream(path_ + "/" + name) << text;
  EXPECT_EQ(::chmod((path_ + "/" + name).c_str(), mode), 0);
}

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return {.device = status.st_dev, .inode = status.st_ino};
}

}  // namespace loom::bwrap
