#include "stage2_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace loom::seatbelt {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kLifted = 30;  // above every number that the child moves something to
constexpr const char* kStage2 = LOOM_BINARY_DIR "/libexec/loom-exec/seatbelt-stage2";

UniqueFd lift(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, kLifted)); }

UniqueFd make_sink() {
  std::string name = "/tmp/loom-stage2-XXXXXX";
  UniqueFd file(::mkstemp(name.data()));
  EXPECT_TRUE(file);
  ::unlink(name.c_str());
  return lift(file.get());
}

std::string read_whole(int fd) {
  std::string text;
  std::array<char, 4'096> piece{};
  off_t at = 0;
  for (ssize_t n = 0; (n = ::pread(fd, piece.data(), piece.size(), at)) > 0; at += n) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

void write_all(int fd, ByteView bytes) {
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

}  // namespace

Stage2Run::Stage2Run(const PrepareDocument& document, const InChild& in_child) {
  launch(make_pipe(encode(document)), in_child);
}

Stage2Run::Stage2Run(UniqueFd document, const InChild& in_child) {
  launch(std::move(document), in_child);
}

Stage2Run::~Stage2Run() {
  hang_up();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Stage2Run::launch(UniqueFd document, const InChild& in_child) {
  std::array<int, 2> report{};
  std::array<int, 2> control{};
  ASSERT_EQ(::pipe(report.data()), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, control.data()), 0);
  for (const int fd : {report[0], report[1], control[0], control[1]}) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  report_.reset(report[0]);
  control_.reset(control[0]);
  out_ = make_sink();
  err_ = make_sink();
  const UniqueFd report_end(report[1]);
  const UniqueFd control_end(control[1]);
  const UniqueFd lifted_document = lift(document.get());
  const UniqueFd lifted_report = lift(report_end.get());
  const UniqueFd lifted_control = lift(control_end.get());
  pid_ = ::fork();
  ASSERT_GE(pid_, 0);
  if (pid_ != 0) return;
  ::setsid();
  ::dup2(out_.get(), 1);
  ::dup2(err_.get(), 2);
  ::dup2(lifted_document.get(), 3);
  ::dup2(lifted_report.get(), 4);
  ::dup2(lifted_control.get(), 5);
  if (in_child) in_child();
  ::execl(kStage2, kStage2, nullptr);
  ::_exit(99);
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

bool Stage2Run::receive_exactly(Bytes& bytes) {
  for (std::byte& byte : bytes) {
    pollfd wait{.fd = control_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, kPatienceMs) <= 0 || ::read(control_.get(), &byte, 1) != 1) return false;
  }
  return true;
}

std::optional<ControlMessage> Stage2Run::receive() {
  Bytes length(4);
  if (!receive_exactly(length)) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < length.size(); ++i) {
    size |= std::to_integer<std::size_t>(length[i]) << (8 * i);
  }
  EXPECT_LE(size, kMaxControlBytes);
  Bytes bytes(size);
  if (!receive_exactly(bytes)) return std::nullopt;
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

void Stage2Run::commit(const CommitDocument& document) {
  const UniqueFd file = make_pipe(encode(document));
  send_bytes(commit_frame(), {file.get()});
}

void Stage2Run::send_bytes(ByteView bytes, const std::vector<int>& fds) {
  static constexpr std::size_t kMost = 16;
  ASSERT_LE(fds.size(), kMost);
  Bytes copy(bytes.begin(), bytes.end());
  iovec data{.iov_base = copy.data(), .iov_len = copy.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMost * sizeof(int))> ancillary{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    const auto bytes_of_fds = static_cast<unsigned>(fds.size() * sizeof(int));
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(bytes_of_fds);
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(bytes_of_fds);
    ::memcpy(CMSG_DATA(part), fds.data(), bytes_of_fds);
  }
  ASSERT_EQ(::sendmsg(control_.get(), &header, MSG_NOSIGNAL), static_cast<ssize_t>(copy.size()));
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

Bytes frame(const ControlMessage& message) {
  const Bytes body = encode(message);
  Bytes bytes;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes.push_back(static_cast<std::byte>((body.size() >> (8 * i)) & 0xFFU));
  }
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

Bytes commit_frame() {
  ControlMessage message;
  message.kind = ControlKind::kCommit;
  return frame(message);
}

UniqueFd make_pipe(ByteView bytes) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  for (const int fd : ends) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const UniqueFd writer(ends[1]);
  write_all(writer.get(), bytes);
  return UniqueFd(ends[0]);
}

UniqueFd make_socket(ByteView bytes) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  for (const int fd : ends) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const UniqueFd writer(ends[1]);
  write_all(writer.get(), bytes);
  return UniqueFd(ends[0]);
}

UniqueFd make_file(ByteView bytes) {
  UniqueFd file = make_sink();
  write_all(file.get(), bytes);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

Ended run_command_with(const PrepareDocument& document, const CommitDocument& command,
                       const InChild& in_child) {
  Stage2Run run(document, in_child);
  if (run.await_ready()) run.commit(command);
  return run.wait();
}

CommitDocument shell(const std::string& script) {
  return {.argv = {"bash", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}, .cwd = "/"};
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
  EXPECT_EQ(::chmod((path_ + "/" + name).c_str(), static_cast<mode_t>(mode)), 0);
}

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return {.device = static_cast<std::uint64_t>(status.st_dev), .inode = status.st_ino};
}

}  // namespace loom::seatbelt
