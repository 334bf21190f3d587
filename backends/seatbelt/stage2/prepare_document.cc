#include "backends/seatbelt/stage2/prepare_document.h"

#include <loom/value.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace loom::seatbelt {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kVersionKey = "v";
constexpr std::string_view kProxyKey = "proxy_asked";

struct NumberField {
  std::string_view key;
  std::optional<std::uint64_t> PrepareDocument::*member;
};
// In the order of the struct.
constexpr std::array<NumberField, 6> kNumbers = {{
    {"fsize_bytes", &PrepareDocument::fsize_bytes},
    {"cpu_s", &PrepareDocument::cpu_s},
    {"address_space_bytes", &PrepareDocument::address_space_bytes},
    {"processes", &PrepareDocument::processes},
    {"fork_brake", &PrepareDocument::fork_brake},
    {"descriptor_limit", &PrepareDocument::descriptor_limit},
}};
constexpr std::size_t kKeys = kNumbers.size() + 2;

auto refuse(std::string_view key, std::string_view why) {
  std::string message = "prepare document: ";
  return fail(ErrorCode::kInvalidRequest, message.append(key).append(": ").append(why));
}

// A limit of 0 is how a policy says "none", and none is nil here.
Result<std::optional<std::uint64_t>> read_number(const Value& map, std::string_view key) {
  const Value* const value = map.find(key);
  if (value == nullptr) return refuse(key, "missing");
  if (value->is(Value::Kind::kNil)) return std::optional<std::uint64_t>();
  if (!value->is(Value::Kind::kUnsigned)) return refuse(key, "not an unsigned integer");
  if (value->unsigned_number == 0) return refuse(key, "0 is no limit");
  return std::optional<std::uint64_t>(value->unsigned_number);
}

Result<void> check_version(const Value& document) {
  const Value* const version =
      document.is(Value::Kind::kMap) ? document.find(kVersionKey) : nullptr;
  if (version == nullptr || !version->is(Value::Kind::kUnsigned) ||
      version->unsigned_number != kVersion) {
    return fail(ErrorCode::kInvalidRequest, "prepare document: not version 1");
  }
  return {};
}

}  // namespace

Bytes encode(const PrepareDocument& document) {
  ValueWriter writer;
  writer.map(kKeys);
  writer.text(kVersionKey);
  writer.number(kVersion);
  for (const NumberField& field : kNumbers) {
    const std::optional<std::uint64_t>& number = document.*field.member;
    writer.text(field.key);
    if (number) {
      writer.number(*number);
    } else {
      writer.nil();
    }
  }
  writer.text(kProxyKey);
  writer.boolean(document.proxy_asked);
  return writer.take();
}

Result<PrepareDocument> decode_prepare_document(ByteView bytes) {
  LOOM_TRY(const Value value, parse_value(bytes));
  // The version first: what another version's keys are called is none of this one's business.
  LOOM_TRY_VOID(check_version(value));
  PrepareDocument document;
  for (const NumberField& field : kNumbers) {
    LOOM_TRY(document.*field.member, read_number(value, field.key));
  }
  const Value* const proxy = value.find(kProxyKey);
  if (proxy == nullptr) return refuse(kProxyKey, "missing");
  if (!proxy->is(Value::Kind::kBoolean)) return refuse(kProxyKey, "not a boolean");
  document.proxy_asked = proxy->boolean;
  // All keys of ours are there, so one more is one that nobody here knows.
  if (value.items.size() != 2 * kKeys) return refuse("keys", "one is not known");
  if (document.processes && document.fork_brake) {
    return refuse("fork_brake", "stands beside processes, and both set the same limit");
  }
  return document;
}

}  // namespace loom::seatbelt
