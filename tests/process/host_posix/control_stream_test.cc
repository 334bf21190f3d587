// The control channel on a stream: each message has its length in front.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <string>
#include <utility>

#include "host/control_channel.h"
#include "process_support.h"

namespace loom::host {
namespace {

Bytes framed(const Bytes& message) {
  Bytes frame(4);
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<std::byte>(message.size() >> (8 * i));
  frame.insert(frame.end(), message.begin(), message.end());
  return frame;
}

Bytes ready() { return framed(encode(ControlMessage{})); }

UniqueFd sealed_commit(std::string_view text) {
  auto begun = begin_commit();
  auto made = begun ? make_commit(std::move(*begun), as_bytes(text)) : std::move(begun);
  EXPECT_TRUE(made);
  return made ? std::move(*made) : UniqueFd();
}

class ControlStreamTest : public ::testing::Test {
 protected:
  ControlStreamTest() {
    auto pair = make_control_pair();
    if (pair) pair_ = std::move(*pair);
  }
  void say(ByteView bytes) {
    ASSERT_EQ(::send(pair_.child.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }

  ControlPair pair_;
};

TEST_F(ControlStreamTest, BothEndsCloseOnExecAndOnlyOursIsNonBlocking) {
  EXPECT_EQ(::fcntl(pair_.host.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(pair_.child.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(::fcntl(pair_.host.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(::fcntl(pair_.child.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(ControlStreamTest, NothingThereIsNeitherAMessageNorTheEnd) {
  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received);
  EXPECT_FALSE(received->closed);
  EXPECT_FALSE(received->message.has_value());
}

TEST_F(ControlStreamTest, MessagesThatArriveTogetherComeOneByOneAndThenTheEnd) {
  ControlMessage failed;
  failed.kind = ControlKind::kFailed;
  failed.step = Stage2Step::kLookup;
  failed.error = ENOENT;
  failed.detail = std::string(1'024, 'x');
  Bytes both = ready();
  const Bytes second = framed(encode(failed));
  both.insert(both.end(), second.begin(), second.end());
  say(both);
  pair_.child.reset();

  const auto one = receive_control(pair_.host.get());
  const auto two = receive_control(pair_.host.get());
  const auto end = receive_control(pair_.host.get());

  ASSERT_TRUE(one && one->message);
  EXPECT_EQ(one->message->kind, ControlKind::kReady);
  EXPECT_EQ(one->sender, 0);
  ASSERT_TRUE(two && two->message);
  EXPECT_EQ(*two->message, failed);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->closed);
}

TEST_F(ControlStreamTest, AMessageThatArrivesByteByByteIsOneMessage) {
  const Bytes text = ready();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto early = receive_control(pair_.host.get());
    ASSERT_TRUE(early) << i;
    EXPECT_FALSE(early->message.has_value()) << i;
    EXPECT_FALSE(early->closed) << i;
    say(ByteView(text).subspan(i, 1));
  }

  const auto whole = receive_control(pair_.host.get());

  ASSERT_TRUE(whole && whole->message);
  EXPECT_EQ(whole->message->kind, ControlKind::kReady);
}

TEST_F(ControlStreamTest, APartOfAMessageBeforeTheEndIsTheEnd) {
  for (const std::size_t part : {std::size_t{0}, std::size_t{2}, std::size_t{4}, std::size_t{6}}) {
    SCOPED_TRACE(part);
    auto pair = make_control_pair();
    ASSERT_TRUE(pair);
    const Bytes text = ready();
    if (part > 0) {
      ASSERT_GT(::send(pair->child.get(), text.data(), part, 0), 0);
    }
    pair->child.reset();

    const auto received = receive_control(pair->host.get());

    ASSERT_TRUE(received);
    EXPECT_TRUE(received->closed);
  }
}

TEST_F(ControlStreamTest, RubbishAnEmptyAndATooLongMessageAreErrors) {
  for (const std::size_t size : {std::size_t{7}, std::size_t{0}, kMaxControlBytes + 1}) {
    SCOPED_TRACE(size);
    auto pair = make_control_pair();
    ASSERT_TRUE(pair);
    const Bytes text = framed(Bytes(size, std::byte{0xff}));
    ASSERT_EQ(::send(pair->child.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));

    EXPECT_FALSE(receive_control(pair->host.get()));
  }
}

TEST_F(ControlStreamTest, ADescriptorNobodyAskedForIsClosed) {
  Pipe pipe = make_pipe();
  Bytes text = ready();
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
  const int lent = pipe.write.get();
  std::memcpy(CMSG_DATA(header), &lent, sizeof lent);
  ASSERT_GT(::sendmsg(pair_.child.get(), &message, 0), 0);
  const std::size_t before = open_descriptors();

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received && received->message);
  EXPECT_EQ(open_descriptors(), before);
  pipe.write.reset();
  EXPECT_TRUE(becomes_readable(pipe.read.get(), 1'000)) << "somebody still holds it";
}

// As a stage 2 takes it: the length, then the rest; the descriptor comes with the first byte.
TEST_F(ControlStreamTest, ACommitIsAFrameThatLendsItsDocument) {
  ASSERT_TRUE(send_commit(pair_.host.get(), sealed_commit("document").get()));

  Bytes text(4 + kMaxControlBytes);
  iovec part{.iov_base = text.data(), .iov_len = 4};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  ASSERT_EQ(::recvmsg(pair_.child.get(), &message, MSG_CMSG_CLOEXEC), 4);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  ASSERT_NE(header, nullptr);
  int lent = -1;
  std::memcpy(&lent, CMSG_DATA(header), sizeof lent);
  const UniqueFd document(lent);
  const auto size = std::to_integer<std::size_t>(text[0]);
  ASSERT_EQ(::read(pair_.child.get(), text.data(), size), static_cast<ssize_t>(size));
  text.resize(size);

  const auto commit = decode_control_message(text);

  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->kind, ControlKind::kCommit);
  EXPECT_EQ(read_text(document.get()), "document");
  EXPECT_LT(::recv(pair_.child.get(), text.data(), 1, MSG_DONTWAIT), 0) << "nothing is left";
}

TEST_F(ControlStreamTest, TheEndWithOurCommitUnreadIsTheEndToo) {
  ASSERT_TRUE(send_commit(pair_.host.get(), sealed_commit("document").get()));
  pair_.child.reset();

  const auto received = receive_control(pair_.host.get());

  ASSERT_TRUE(received);
  EXPECT_TRUE(received->closed);
}

TEST_F(ControlStreamTest, ACommitToNobodyIsAnErrorWithoutASignal) {
  pair_.child.reset();

  const auto sent = send_commit(pair_.host.get(), sealed_commit("document").get());

  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().sys_errno, EPIPE);
}

TEST_F(ControlStreamTest, AnExecRuleSetIsRefused) {
  const Pipe rules = make_pipe();

  const auto sent =
      send_commit(pair_.host.get(), sealed_commit("document").get(), rules.read.get());

  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace loom::host
