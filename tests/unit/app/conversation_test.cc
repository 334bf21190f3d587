#include "app/conversation.h"

#include <gtest/gtest.h>
#include <loom/value.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace loom::app {
namespace {

// A server that does nothing but remember what it was asked.
class FakeServer : public ConversationActions {
 public:
  void send(Bytes frame) override {
    deepest = std::max(deepest, ++depth);
    remember(std::move(frame));
    // As a server does that wrote the frame at once.
    if (output_moved) output_moved();
    --depth;
  }
  void remember(Bytes frame) {
    FrameReader reader;
    reader.feed(frame);
    auto payload = reader.next();
    ASSERT_TRUE(payload && *payload);
    const auto read = decode_frame(std::move(**payload));
    ASSERT_TRUE(read);
    const Value* code = read->body.find("code");
    const bool is_error = read->kind == "error" && code != nullptr;
    said.push_back(read->kind + " " + std::to_string(read->id) +
                   (is_error ? " " + std::string(code->bytes) : ""));
  }
  bool output_is_full() const override { return full; }
  void read_input(bool wanted) override { reading = wanted; }
  void forget_input() override { ++forgotten; }
  Admission<void> start(RunRequest request) override {
    if (!refusal.empty()) return fail(ErrorCode::kDenied, refusal);
    running = true;
    started = std::move(request);
    return {};
  }
  bool is_running() const override { return running; }
  host::StdinAnswer offer_stdin(ByteView chunk, bool) override {
    if (room) taken += std::string(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return room ? host::StdinAnswer::kAccepted : host::StdinAnswer::kWait;
  }
  void cancel(const std::string& cause) override { cancelled = cause; }
  void log_denial(const std::string&) override {}

  std::function<void()> output_moved;
  int depth = 0;
  int deepest = 0;
  std::vector<std::string> said;
  bool full = false;
  bool reading = true;
  int forgotten = 0;
  bool running = false;
  bool room = true;
  std::string refusal;
  std::string cancelled;
  std::string taken;
  RunRequest started;
};

// A frame of the broker's: `body` writes one value.
template <class Body>
Bytes frame(std::uint64_t id, std::string_view kind, Body body) {
  ValueWriter writer;
  writer.map(4);
  writer.text("v");
  writer.number(1);
  writer.text("id");
  writer.number(id);
  writer.text("kind");
  writer.text(kind);
  writer.text("body");
  body(writer);
  const Bytes payload = writer.take();
  Bytes bytes;
  for (const int shift : {24, 16, 8, 0}) {
    bytes.push_back(static_cast<std::byte>((payload.size() >> shift) & 0xFF));
  }
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Bytes empty_frame(std::uint64_t id, std::string_view kind) {
  return frame(id, kind, [](ValueWriter& body) { body.map(0); });
}

Bytes hello_frame(std::uint64_t proto = 3) {
  return frame(1, "hello", [proto](ValueWriter& body) {
    body.map(3);
    body.text("proto");
    body.number(proto);
    body.text("peer");
    body.text("broker");
    body.text("features");
    body.nil();
  });
}

Bytes start_frame(std::uint64_t id) {
  return frame(id, "exec_start", [](ValueWriter& body) {
    body.map(4);
    body.text("argv");
    body.array(1);
    body.text("true");
    body.text("env");
    body.nil();
    body.text("cwd");
    body.text("");
    body.text("token");
    body.text("t");
  });
}

Bytes stdin_frame(std::uint64_t id, std::string_view data) {
  return frame(id, "exec_stdin", [data](ValueWriter& body) {
    body.map(2);
    body.text("data");
    body.text(data);
    body.text("eof");
    body.boolean(false);
  });
}

class ConversationTest : public testing::Test {
 protected:
  void take(const Bytes& bytes) { conversation.take_input(bytes); }
  std::vector<std::string> heard() { return std::exchange(server.said, {}); }
  using Lines = std::vector<std::string>;

  FakeServer server;
  Conversation conversation{server, Policy()};
};

TEST_F(ConversationTest, AHelloComesFirst) {
  conversation.greet({"degraded"});
  EXPECT_EQ(heard(), Lines{"hello 1"});
  take(empty_frame(7, "heartbeat"));

  EXPECT_EQ(heard(), Lines{"error 7 proto_mismatch"});
  EXPECT_EQ(conversation.closing(), 1);
  EXPECT_EQ(server.forgotten, 1);
}

TEST_F(ConversationTest, AnotherProtocolNumberCloses) {
  take(hello_frame(4));

  EXPECT_EQ(heard(), Lines{"error 1 proto_mismatch"});
  EXPECT_EQ(conversation.closing(), 1);
}

TEST_F(ConversationTest, OneExecutionAtATime) {
  take(hello_frame());
  take(start_frame(2));
  EXPECT_EQ(server.started.id, 2u);
  take(start_frame(3));
  EXPECT_EQ(heard(), Lines{"error 3 busy"});
  server.running = false;
  conversation.send_exit(2, ExecResult{});
  take(start_frame(4));

  EXPECT_EQ(heard(), Lines{"exec_exit 2"});
  EXPECT_EQ(server.started.id, 4u);
  EXPECT_EQ(conversation.closing(), std::nullopt);
}

TEST_F(ConversationTest, ARefusedStartIsNoExecution) {
  take(hello_frame());
  server.refusal = "no";
  take(start_frame(2));
  take(stdin_frame(3, "x"));

  EXPECT_EQ(heard(), (Lines{"error 2 spawn_failed", "error 3 no_exec"}));
}

TEST_F(ConversationTest, AChunkWithoutRoomHoldsWhatIsBehindIt) {
  take(hello_frame());
  take(start_frame(2));
  server.room = false;
  take(stdin_frame(3, "held"));
  take(empty_frame(4, "heartbeat"));
  EXPECT_FALSE(server.reading);
  EXPECT_TRUE(conversation.input_must_wait());
  EXPECT_EQ(heard(), Lines{});

  server.room = true;
  conversation.stdin_has_room();
  EXPECT_EQ(server.taken, "held");
  EXPECT_EQ(heard(), Lines{"heartbeat 4"});
  EXPECT_TRUE(server.reading);
}

TEST_F(ConversationTest, ABrokerThatLeavesWhileItsInputWaitsIsDone) {
  take(hello_frame());
  take(start_frame(2));
  server.room = false;
  take(stdin_frame(3, "held"));
  conversation.broker_left();

  EXPECT_EQ(conversation.closing(), 0);
  EXPECT_FALSE(server.cancelled.empty());
}

TEST_F(ConversationTest, AFullOutputHoldsFramesUntilSomeOfItMoved) {
  take(hello_frame());
  server.full = true;
  take(empty_frame(2, "heartbeat"));
  EXPECT_FALSE(server.reading);
  conversation.output_moved();
  EXPECT_EQ(heard(), Lines{});
  server.full = false;
  conversation.output_moved();

  EXPECT_EQ(heard(), Lines{"heartbeat 2"});
  EXPECT_TRUE(server.reading);
}

TEST_F(ConversationTest, RepliesThatAreWrittenAtOnceDoNotNest) {
  server.output_moved = [this] { conversation.output_moved(); };
  take(hello_frame());
  server.full = true;
  Bytes many;
  for (std::uint64_t id = 2; id < 100; ++id) {
    const Bytes one = empty_frame(id, "heartbeat");
    many.insert(many.end(), one.begin(), one.end());
  }
  take(many);
  EXPECT_EQ(heard(), Lines{});

  server.full = false;
  conversation.output_moved();
  EXPECT_EQ(heard().size(), 98U);
  EXPECT_EQ(server.deepest, 1);
}

TEST_F(ConversationTest, ShutdownStopsTheRunAndEveryFrameBehindIt) {
  take(hello_frame());
  take(start_frame(2));
  Bytes both = empty_frame(3, "shutdown");
  const Bytes behind = empty_frame(4, "heartbeat");
  both.insert(both.end(), behind.begin(), behind.end());
  take(both);

  EXPECT_EQ(heard(), Lines{});
  EXPECT_EQ(conversation.closing(), 0);
  EXPECT_FALSE(server.cancelled.empty());
}

TEST_F(ConversationTest, TheEndOfInputIsCleanBetweenFramesOnly) {
  take(hello_frame());
  conversation.input_ended();
  EXPECT_EQ(conversation.closing(), 0);

  FakeServer other;
  Conversation cut(other, Policy());
  cut.take_input(Bytes(2));
  cut.input_ended();
  EXPECT_EQ(cut.closing(), 1);
  EXPECT_EQ(other.said, Lines{"error 0 malformed_frame"});
}

TEST_F(ConversationTest, CancelWithoutARunIsNothing) {
  take(hello_frame());
  take(empty_frame(2, "cancel"));
  EXPECT_TRUE(server.cancelled.empty());
  take(start_frame(3));
  take(empty_frame(3, "cancel"));

  EXPECT_FALSE(server.cancelled.empty());
  EXPECT_EQ(heard(), Lines{});
}

}  // namespace
}  // namespace loom::app
