#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/stage2_control.h>

namespace loom {
namespace {

using ::testing::HasSubstr;

TEST(ControlMessageTest, AFailureArrivesWithStepErrnoAndThing) {
  const ControlMessage message{.kind = ControlKind::kFailed,
                               .step = Stage2Step::kLookup,
                               .error = 2,
                               .detail = "no-such-program"};

  const auto decoded = decode_control_message(encode(message));

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, message);
}

TEST(ControlMessageTest, ALongDetailIsCutSoThatTheMessageFits) {
  const ControlMessage message{.kind = ControlKind::kFailed, .detail = std::string(5000, 'x')};

  const Bytes bytes = encode(message);

  EXPECT_LE(bytes.size(), kMaxControlBytes);
  const auto decoded = decode_control_message(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->detail, std::string(1024, 'x'));
}

TEST(ControlMessageTest, APacketPastItsCeilingIsRefusedUnread) {
  const auto decoded = decode_control_message(Bytes(kMaxControlBytes + 1));

  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("longer than 2048 bytes"));
}

TEST(CommitDocumentTest, ArgumentsAndEnvironmentArriveAsTheyWere) {
  const CommitDocument document{
      .argv = {"sh", "-c", "echo \xFF"}, .environment = {"A=", "B=\n"}, .cwd = "/srv"};

  const auto decoded = decode_commit_document(encode(document));

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, document);
}

TEST(ControlMessageTest, EveryKindArrivesAndThereIsNoOther) {
  for (const ControlKind kind : {ControlKind::kReady, ControlKind::kCommit, ControlKind::kFailed,
                                 ControlKind::kHere, ControlKind::kConfined}) {
    EXPECT_EQ(decode_control_message(encode(ControlMessage{.kind = kind}))->kind, kind);
  }
  EXPECT_FALSE(decode_control_message(encode(ControlMessage{.kind = static_cast<ControlKind>(6)})));
}

TEST(CommitDocumentTest, TheProgramAndItsRulesArriveAsTheyWere) {
  const CommitDocument document{.argv = {"spelled"},
                                .environment = {},
                                .cwd = "",
                                .program = "/usr/bin/\xFF",
                                .program_identity = {.device = UINT64_MAX, .inode = 7},
                                .exec_rules = true,
                                .scratch_runs = true};

  const auto decoded = decode_commit_document(encode(document));

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, document);
}

TEST(CommitDocumentTest, AControlMessageIsNoCommitDocument) {
  EXPECT_FALSE(decode_commit_document(encode(ControlMessage{})));
  EXPECT_FALSE(decode_control_message(encode(CommitDocument{})));
}

}  // namespace
}  // namespace loom
