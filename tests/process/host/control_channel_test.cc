#include "host/control_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "process_support.h"

namespace loom::host {
namespace {

Bytes ready() { return encode(ControlMessage{}); }

// Sends `text` with one descriptor, or receives a message and the descriptor it carries.
void send_with_descriptor(int socket, Bytes text, int fd) {
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  ASSERT_GT(::sendmsg(socket, &message, 0), 0);
}

std::vector<UniqueFd> receive_descriptors(int socket, Bytes& text) {
  text.resize(kMaxControlBytes);
  iovec part{.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  std::vector<UniqueFd> fds;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return fds;
  for (std::size_t at = CMSG_LEN(0); at < header->cmsg_len; at += sizeof(int)) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header) + (at - CMSG_LEN(0)), sizeof fd);
    fds.emplace_back(fd);
  }
  return fds;
}

UniqueFd receive_descriptor(int socket, Bytes& text) {
  std::vector<UniqueFd> fds = receive_descriptors(socket, text);
  EXPECT_LE(fds.size(), 1U);
  return fds.empty() ? UniqueFd() : std::move(fds.front());
}

UniqueFd sealed_commit(std::string_view text) {
  auto begun = begin_commit();
  auto made = begun ? make_commit(std::move(*begun), as_bytes(text)) : std::move(begun);
  EXPECT_TRUE(made);
  return made ? std::move(*made) : UniqueFd();
}

class ControlChannelTest : public ::testing::Test {
 protected:
  ControlChannelTest() {
    auto pair = make_control_pair();
    if (pair) pair_ = std::move(*pair);
  }

  ControlPair pair_;
};

TEST_F(ControlChannelTest, BothEndsCloseOnExecAndOnlyOursIsNonBlocking) {
  EXPECT_EQ(::fcntl(pair_.host.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pair_.child.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(::fcntl(pair_.host.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(pair_.child.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(ControlChannelTest, NothingThereIsNeitherAMessageNorTheEnd) {
  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received);
  EXPECT_FALSE(received->closed);
  EXPECT_FALSE(received->message.has_value());
}

TEST_F(ControlChannelTest, AMessageComesWithTheProcessThatSentIt) {
  const Bytes text = ready();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::send(pair_.child.get(), text.data(), text.size(), 0) > 0 ? 0 : 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received) << received.error().message;
  ASSERT_TRUE(received->message.has_value());
  EXPECT_EQ(received->message->kind, ControlKind::kReady);
  EXPECT_EQ(received->sender, child);
}

TEST_F(ControlChannelTest, TheOtherSideGoingAwayIsTheEnd) {
  pair_.child.reset();

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received);
  EXPECT_TRUE(received->closed);
}

TEST_F(ControlChannelTest, TheEndWithOurCommitUnreadIsTheEndToo) {
  ASSERT_TRUE(send_commit(pair_.host.get(), sealed_commit("document").get()));
  pair_.child.reset();

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received);
  EXPECT_TRUE(received->closed);
}

TEST_F(ControlChannelTest, ADescriptorNobodyAskedForIsClosed) {
  const Pipe pipe = make_pipe();
  send_with_descriptor(pair_.child.get(), ready(), pipe.read.get());
  const std::size_t before = open_descriptors();

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(received->message.has_value());
  EXPECT_EQ(received->sender, ::getpid());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ControlChannelTest, RubbishAnEmptyAndATooLongMessageAreErrors) {
  for (const std::size_t size : {std::size_t{7}, std::size_t{0}, kMaxControlBytes + 1}) {
    SCOPED_TRACE(size);
    const Bytes text(size, std::byte{0xff});
    ASSERT_EQ(::send(pair_.child.get(), text.data(), size, 0), static_cast<ssize_t>(size));

    EXPECT_FALSE(receive_control(pair_.host.get()));
  }
}

TEST_F(ControlChannelTest, ACommitCarriesItsDocumentSealed) {
  ASSERT_TRUE(send_commit(pair_.host.get(), sealed_commit("document").get()));

  Bytes text;
  const UniqueFd document = receive_descriptor(pair_.child.get(), text);

  const auto message = decode_control_message(text);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, ControlKind::kCommit);
  ASSERT_TRUE(document);
  EXPECT_EQ(read_text(document.get()), "document");
  EXPECT_NE(::fcntl(document.get(), F_GET_SEALS) & F_SEAL_WRITE, 0);
}

TEST_F(ControlChannelTest, ACommitCarriesTheRuleSetAfterItsDocument) {
  const Pipe rules = make_pipe();
  const std::size_t before = open_descriptors();
  ASSERT_TRUE(send_commit(pair_.host.get(), sealed_commit("document").get(), rules.read.get()));

  Bytes text;
  const std::vector<UniqueFd> received = receive_descriptors(pair_.child.get(), text);

  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(read_text(received[0].get()), "document");
  struct stat sent {};
  struct stat got {};
  ASSERT_EQ(::fstat(rules.read.get(), &sent), 0);
  ASSERT_EQ(::fstat(received[1].get(), &got), 0);
  EXPECT_EQ(got.st_ino, sent.st_ino);
  EXPECT_EQ(::fcntl(received[1].get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(open_descriptors(), before + 2);  // what is sent stays the sender's
}

TEST_F(ControlChannelTest, ACommitToNobodyIsAnErrorWithoutASignal) {
  pair_.child.reset();

  const auto sent = send_commit(pair_.host.get(), sealed_commit("document").get());

  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys_errno, EPIPE);
}

}  // namespace
}  // namespace loom::host
