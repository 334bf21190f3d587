#include "tests/bench/broker.h"

#include <loom/check.h>
#include <loom/value.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "host/memory_file.h"
#include "policy/decode_policy.h"

namespace loom::bench {
namespace {

Bytes hello_body() {
  ValueWriter body;
  body.map(3);
  body.text("proto");
  body.number(kProtocolNumber);
  body.text("peer");
  body.text("broker");
  body.text("features");
  body.array(0);
  return body.take();
}

Bytes start_body(const std::vector<std::string>& argv, const std::string& cwd) {
  ValueWriter body;
  body.map(4);
  body.text("argv");
  body.array(argv.size());
  for (const std::string& word : argv) body.text(word);
  body.text("env");
  body.map(1);
  body.text("PATH");
  body.text("/usr/bin:/bin");
  body.text("cwd");
  body.text(cwd);
  body.text("token");
  body.binary(as_bytes("0123456789abcdef0123456789abcdef"));
  return body.take();
}

Bytes framed(std::uint64_t id, std::string_view kind, ByteView body) {
  ValueWriter frame;
  frame.map(4);
  frame.text("v");
  frame.number(1);
  frame.text("id");
  frame.number(id);
  frame.text("kind");
  frame.text(kind);
  frame.text("body");
  frame.encoded(body);
  const std::size_t size = frame.bytes().size();
  Bytes out;
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(size >> shift));
  out.insert(out.end(), frame.bytes().begin(), frame.bytes().end());
  return out;
}

Frame decoded(Bytes payload) {
  auto frame = decode_frame(std::move(payload));
  LOOM_CHECK(frame.has_value());
  return std::move(*frame);
}

bool says_success(const Frame& exit) {
  const Value& code = *exit.body.find("code");
  return code.is(Value::Kind::kUnsigned) && code.unsigned_number == 0;
}

ChildProcess start_helper(const std::string& helper, const Policy& policy,
                          std::vector<std::string> flags) {
  flags.insert(flags.begin(), helper);
  const auto document = host::make_memory_file("policy", encode_policy(policy));
  LOOM_CHECK(document.has_value());
  return start_child(
      {.argv = std::move(flags), .piped = true, .lent = {{.fd = document->get(), .number = 3}}});
}

}  // namespace

Broker::Broker(const std::string& helper, const Policy& policy, std::vector<std::string> flags)
    : child_(start_helper(helper, policy, std::move(flags))) {}

Broker::~Broker() {
  child_.in.reset();
  wait_for(child_);
}

void Broker::greet() {
  LOOM_CHECK(read_frame().kind == "hello");
  send(next_id_++, "hello", hello_body());
}

std::uint64_t Broker::start(const std::vector<std::string>& argv, const std::string& cwd) {
  const std::uint64_t id = next_id_++;
  send(id, "exec_start", start_body(argv, cwd));
  return id;
}

void Broker::cancel(std::uint64_t id) {
  ValueWriter body;
  body.map(0);
  send(id, "cancel", body.bytes());
}

void Broker::write_stdin(std::uint64_t id, std::string_view data, bool eof) {
  ValueWriter body;
  body.map(2);
  body.text("data");
  body.binary(as_bytes(data));
  body.text("eof");
  body.boolean(eof);
  send(id, "exec_stdin", body.bytes());
}

Broker::Heard Broker::read_to_exit() {
  Heard heard;
  for (;;) {
    const Frame frame = read_frame();
    LOOM_CHECK(frame.kind != "error");
    if (frame.kind == "exec_exit") {
      heard.ended_well = says_success(frame);
      return heard;
    }
    if (frame.kind != "exec_out") continue;
    heard.bytes += frame.body.find("data")->bytes.size();
    ++heard.frames;
  }
}

std::uint64_t Broker::skim_to_exit() {
  static std::array<char, 1u << 18> buffer;
  std::uint64_t bytes = 0;
  std::string tail;
  for (;;) {
    const std::size_t got = read_some(buffer.data(), buffer.size());
    bytes += got;
    // exec_exit is the last frame of a run, and its kind stands at its beginning.
    const std::size_t keep = std::min<std::size_t>(got, 2'048);
    tail.append(buffer.data() + got - keep, keep);
    if (tail.size() > 4'096) tail.erase(0, tail.size() - 4'096);
    if (tail.find("exec_exit") != std::string::npos) return bytes;
  }
}

std::size_t Broker::read_some(void* into, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(child_.out.get(), into, size);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    std::fprintf(stderr, "loom-bench: the helper ended: %d\n", wait_for(child_));
    LOOM_CHECK(got > 0);
  }
}

Bytes Broker::read_payload() {
  static std::array<std::byte, 1u << 18> buffer;
  for (;;) {
    auto payload = reader_.next();
    LOOM_CHECK(payload.has_value());
    if (*payload) return std::move(**payload);
    const std::size_t got = read_some(buffer.data(), buffer.size());
    reader_.feed(ByteView(buffer.data(), got));
  }
}

Frame Broker::read_frame() { return decoded(read_payload()); }

Bytes Broker::start_frame(const std::vector<std::string>& argv, const std::string& cwd) {
  return framed(next_id_++, "exec_start", start_body(argv, cwd));
}

Bytes Broker::read_exit_frame() {
  for (;;) {
    Bytes payload = read_payload();
    // A short search: what comes before the kind has a fixed length, nearly.
    LOOM_CHECK(as_text(payload).substr(0, 64).find("error") == std::string_view::npos);
    if (as_text(payload).substr(0, 64).find("exec_exit") != std::string_view::npos) return payload;
  }
}

bool Broker::ended_well(Bytes exit_frame) {
  const Frame frame = decoded(std::move(exit_frame));
  return frame.kind == "exec_exit" && says_success(frame);
}

void Broker::write(ByteView frame) {
  LOOM_CHECK(::write(child_.in.get(), frame.data(), frame.size()) ==
             static_cast<ssize_t>(frame.size()));
}

void Broker::send(std::uint64_t id, std::string_view kind, ByteView body) {
  write(framed(id, kind, body));
}

}  // namespace loom::bench
