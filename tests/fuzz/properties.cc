#include "tests/fuzz/properties.h"

#include <loom/check.h>
#include <loom/codec.h>
#include <loom/report.h>
#include <loom/stage2_control.h>
#include <loom/utf8.h>

#include <algorithm>

#include "policy/decode_policy.h"
#include "protocol/frame_reader.h"
#include "protocol/messages.h"

namespace loom::fuzz {
namespace {

struct Cut {
  std::vector<Bytes> frames;
  bool broken = false;
  bool at_boundary = false;
  friend bool operator==(const Cut&, const Cut&) = default;
};

Cut cut_into_frames(ByteView bytes, std::size_t chunk) {
  FrameReader reader;
  Cut cut;
  while (!bytes.empty() && !cut.broken) {
    const std::size_t length = std::min(chunk, bytes.size());
    reader.feed(bytes.first(length));
    bytes = bytes.subspan(length);
    for (auto next = reader.next(); !cut.broken; next = reader.next()) {
      cut.broken = !next;
      if (!next || !*next) break;
      cut.frames.push_back(**std::move(next));
    }
  }
  cut.at_boundary = !cut.broken && reader.at_boundary();
  return cut;
}

template <class T>
void check_error(const Result<T>& result) {
  LOOM_CHECK(result.has_value() ||
             (!result.error().message.empty() && is_utf8(result.error().message)));
}

// What decodes encodes to bytes that decode to an equal value and encode to the same bytes.
template <class Decode>
bool survives(ByteView bytes, Decode decode) {
  const auto value = decode(bytes);
  check_error(value);
  if (!value) return false;
  const Bytes encoded = encode(*value);
  const auto again = decode(encoded);
  LOOM_CHECK(again.has_value());
  LOOM_CHECK(*again == *value);
  LOOM_CHECK(encode(*again) == encoded);
  return true;
}

// The same for the inner report, whose encoder makes text valid: equal from the second time on.
bool report_survives(ByteView bytes) {
  const auto report = decode_inner_report(bytes);
  check_error(report);
  if (!report) return false;
  const Bytes encoded = encode(*report);
  const auto again = decode_inner_report(encoded);
  LOOM_CHECK(again.has_value());
  LOOM_CHECK(again->applied.size() == report->applied.size());
  LOOM_CHECK(again->skipped.size() == report->skipped.size());
  LOOM_CHECK(encode(*again) == encoded);
  return true;
}

void check_start(const Value& body) {
  const auto start = decode_exec_start(body);
  check_error(start);
  if (!start) return;
  for (const std::string& argument : start->argv) {
    LOOM_CHECK(argument.find('\0') == std::string::npos);
  }
  for (const auto& [name, value] : start->env) {
    LOOM_CHECK(!name.empty() && name.find('=') == std::string::npos);
    LOOM_CHECK(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos);
  }
  if (start->policy != nullptr) check_error(decode_policy(*start->policy));
}

void check_hello(const Value& body) {
  const auto hello = decode_hello(body);
  check_error(hello);
  if (!hello) return;
  FrameReader reader;
  reader.feed(encode_hello_frame(1, *hello));
  auto payload = reader.next();
  LOOM_CHECK(payload && *payload && reader.at_boundary());
  const auto frame = decode_frame(**std::move(payload));
  LOOM_CHECK(frame.has_value());
  const auto again = decode_hello(frame->body);
  LOOM_CHECK(again && again->proto == hello->proto);
  LOOM_CHECK(again->features.size() == hello->features.size());
}

// The byte that selects the decoder, and the rest.
std::size_t selector(ByteView bytes) { return std::to_integer<std::size_t>(bytes.front()) % 3; }

}  // namespace

void check_frame_reader(ByteView bytes) {
  const Cut whole = cut_into_frames(bytes, bytes.size() + 1);
  LOOM_CHECK(cut_into_frames(bytes, 1) == whole);
  LOOM_CHECK(cut_into_frames(bytes, 5) == whole);
  for (const Bytes& frame : whole.frames) {
    LOOM_CHECK(!frame.empty() && frame.size() <= kMaxFrameBytes);
  }
}

bool frame_reader_accepts(ByteView bytes) {
  return cut_into_frames(bytes, bytes.size() + 1).at_boundary;
}

void check_message(ByteView bytes) {
  const auto frame = decode_frame(Bytes(bytes.begin(), bytes.end()));
  check_error(frame);
  if (!frame) return;
  LOOM_CHECK(!frame->kind.empty());
  check_start(frame->body);
  check_hello(frame->body);
  check_error(decode_exec_stdin(frame->body));
  check_error(decode_shutdown(frame->body));
}

bool message_accepts(ByteView bytes) {
  return decode_frame(Bytes(bytes.begin(), bytes.end())).has_value();
}

void check_policy(ByteView bytes) {
  const auto policy = decode_policy(bytes);
  if (!policy) {
    LOOM_CHECK(is_utf8(policy.error().message) && policy.error().message.rfind("policy: ", 0) == 0);
    return;
  }
  const Bytes canonical = encode_policy(*policy);
  const auto again = decode_policy(canonical);
  LOOM_CHECK(again.has_value());
  LOOM_CHECK(*again == *policy);
  LOOM_CHECK(encode_policy(*again) == canonical);
}

bool policy_accepts(ByteView bytes) { return decode_policy(bytes).has_value(); }

bool value_codec_accepts(ByteView bytes) {
  if (bytes.empty()) return false;
  const ByteView document = bytes.subspan(1);
  switch (selector(bytes)) {
    case 0:
      return survives(document, decode_jail_plan);
    case 1:
      return survives(document, decode_launch_spec);
    default:
      return survives(document, decode_plan_request);
  }
}

void check_value_codec(ByteView bytes) { static_cast<void>(value_codec_accepts(bytes)); }

bool stage2_report_accepts(ByteView bytes) {
  if (bytes.empty()) return false;
  const ByteView document = bytes.subspan(1);
  switch (selector(bytes)) {
    case 0:
      return report_survives(document);
    case 1:
      return survives(document, decode_control_message);
    default:
      return survives(document, decode_commit_document);
  }
}

void check_stage2_report(ByteView bytes) { static_cast<void>(stage2_report_accepts(bytes)); }

}  // namespace loom::fuzz
