#include <loom/check.h>
#include <loom/utf8.h>

#include <array>

#include "protocol/frame_reader.h"
#include "protocol/messages.h"

namespace loom {
namespace {

// Text that came from elsewhere goes out as valid UTF-8 or not at all (docs/wire.md 2.1).
void write_text(ValueWriter& out, std::string_view text) { out.text(Utf8::sanitise(text).str()); }

void write_texts(ValueWriter& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const std::string& text : texts) write_text(out, text);
}

// Writes everything of a frame up to its body. The prefix is filled in when the length is known.
void begin_frame(ValueWriter& out, std::uint64_t id, std::string_view kind) {
  static constexpr std::array<std::byte, kFramePrefixBytes> kEmptyPrefix{};
  out.encoded(kEmptyPrefix);
  out.map(4);
  out.text("v");
  out.number(kEnvelopeVersion);
  out.text("id");
  out.number(id);
  out.text("kind");
  out.text(kind);
  out.text("body");
}

// `more`: bytes of the payload that are written elsewhere.
Bytes end_frame(ValueWriter& out, std::size_t more = 0) {
  Bytes frame = out.take();
  const std::size_t length = frame.size() - kFramePrefixBytes + more;
  LOOM_CHECK(length <= kMaxFrameBytes);
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) {
    frame[i] = static_cast<std::byte>((length >> (8U * (kFramePrefixBytes - 1 - i))) & 0xffU);
  }
  return frame;
}

void begin_exec_out(ValueWriter& out, std::uint64_t id, Stream stream) {
  begin_frame(out, id, "exec_out");
  out.map(4);
  out.text("stream");
  out.text(stream == Stream::kStdout ? "stdout" : "stderr");
  out.text("data");
}

// How many entries of the list fit; sanitising can make three bytes of one, and the header takes
// five.
std::size_t fitting_entries(const std::vector<std::string>& entries) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    used += Utf8::sanitise(entries[i]).str().size() + 5;
    if (used > kMaxEnforcementBytes) return i;
  }
  return entries.size();
}

void write_enforcement(ValueWriter& out, const std::vector<std::string>& entries) {
  const std::size_t fitting = fitting_entries(entries);
  if (fitting == entries.size()) {
    write_texts(out, entries);
    return;
  }
  out.array(fitting + 1);
  for (std::size_t i = 0; i < fitting; ++i) write_text(out, entries[i]);
  out.text("skip:mounts: " + std::to_string(entries.size() - fitting) +
           " further entries do not fit into a frame");
}

void write_outcome(ValueWriter& out, const Outcome& outcome) {
  out.text("outcome");
  out.map(3);
  out.text("class");
  out.text(outcome_class_name(outcome.outcome));
  out.text("detail");
  write_text(out, std::string_view(outcome.detail).substr(0, kMaxErrorText));
  out.text("first_cause");
  write_text(out, std::string_view(outcome.first_cause).substr(0, kMaxErrorText));
}

void write_number(ValueWriter& out, std::string_view key, std::uint64_t value) {
  out.text(key);
  out.number(value);
}

void write_bool(ValueWriter& out, std::string_view key, bool value) {
  out.text(key);
  out.boolean(value);
}

}  // namespace

std::string_view wire_error_code(WireError error) noexcept {
  switch (error) {
    case WireError::kMalformedFrame:
      return "malformed_frame";
    case WireError::kProtoMismatch:
      return "proto_mismatch";
    case WireError::kBadPolicy:
      return "bad_policy";
    case WireError::kBusy:
      return "busy";
    case WireError::kNoExec:
      return "no_exec";
    case WireError::kSpawnFailed:
      return "spawn_failed";
    case WireError::kUnknownKind:
      return "unknown_kind";
  }
  return "malformed_frame";
}

Bytes encode_hello_frame(std::uint64_t id, const Hello& hello) {
  ValueWriter out;
  begin_frame(out, id, "hello");
  out.map(3);
  write_number(out, "proto", hello.proto);
  out.text("peer");
  write_text(out, hello.peer);
  out.text("features");
  write_texts(out, hello.features);
  return end_frame(out);
}

SplitFrame split_exec_out_frame(std::uint64_t id, Stream stream, std::size_t data_bytes,
                                std::uint64_t total_bytes, bool truncated) {
  ValueWriter tail;
  write_number(tail, "bytes", total_bytes);
  write_bool(tail, "truncated", truncated);
  ValueWriter head;
  begin_exec_out(head, id, stream);
  head.binary_header(data_bytes);
  SplitFrame frame;
  frame.tail = tail.take();
  frame.head = end_frame(head, data_bytes + frame.tail.size());
  return frame;
}

Bytes encode_exec_out_frame(std::uint64_t id, Stream stream, ByteView data,
                            std::uint64_t total_bytes, bool truncated) {
  SplitFrame split = split_exec_out_frame(id, stream, data.size(), total_bytes, truncated);
  Bytes frame = std::move(split.head);
  frame.reserve(frame.size() + data.size() + split.tail.size());
  frame.insert(frame.end(), data.begin(), data.end());
  frame.insert(frame.end(), split.tail.begin(), split.tail.end());
  return frame;
}

Bytes encode_exec_exit_frame(std::uint64_t id, const ExecResult& result, bool with_outcome) {
  ValueWriter out;
  begin_frame(out, id, "exec_exit");
  out.map(with_outcome ? 12 : 11);
  out.text("code");
  out.signed_number(result.code);
  out.text("signal");
  out.signed_number(result.signal);
  write_number(out, "stdout_bytes", result.stdout_bytes);
  write_number(out, "stderr_bytes", result.stderr_bytes);
  write_bool(out, "stdout_truncated", result.stdout_truncated);
  write_bool(out, "stderr_truncated", result.stderr_truncated);
  out.text("enforcement");
  write_enforcement(out, result.enforcement);
  write_bool(out, "degraded", result.degraded);
  const auto wall_ms = result.wall.count();
  write_number(out, "wall_ms", wall_ms > 0 ? static_cast<std::uint64_t>(wall_ms) : 0);
  write_bool(out, "timed_out", result.timed_out);
  write_bool(out, "cancelled", result.cancelled);
  if (with_outcome) write_outcome(out, result.outcome);
  return end_frame(out);
}

Bytes encode_heartbeat_frame(std::uint64_t id) {
  ValueWriter out;
  begin_frame(out, id, "heartbeat");
  out.map(0);
  return end_frame(out);
}

Bytes encode_error_frame(std::uint64_t id, WireError code, std::string_view message,
                         const Denial* denial) {
  ValueWriter out;
  begin_frame(out, id, "error");
  out.map(denial == nullptr ? 2 : 3);
  out.text("code");
  out.text(wire_error_code(code));
  out.text("msg");
  write_text(out, message.substr(0, kMaxErrorText));
  if (denial != nullptr) {
    out.text("denial");
    write_denial(out, *denial);
  }
  return end_frame(out);
}

}  // namespace loom
