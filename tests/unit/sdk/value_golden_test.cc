#include <gtest/gtest.h>
#include <loom/value.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace loom {
namespace {

using Json = nlohmann::json;

Json load_entries() {
  std::ifstream file(LOOM_SOURCE_DIR "/tests/golden/msgpack.json");
  return Json::parse(file);
}

Bytes from_hex(const std::string& hex) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

// The golden file's spelling of a value: binary is {"bin": hex}.
Json to_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNil:
      return nullptr;
    case Value::Kind::kBoolean:
      return value.boolean;
    case Value::Kind::kUnsigned:
      return value.unsigned_number;
    case Value::Kind::kNegative:
      return value.negative_number;
    case Value::Kind::kFloat:
      return value.float_number;
    case Value::Kind::kText:
      return std::string(value.bytes);
    case Value::Kind::kBinary:
      return Json{{"bin", to_hex(value.bytes)}};
    case Value::Kind::kArray: {
      Json out = Json::array();
      for (const Value& item : value.items) out.push_back(to_json(item));
      return out;
    }
    case Value::Kind::kMap: {
      Json out = Json::object();
      for (std::size_t i = 0; i < value.items.size(); i += 2) {
        out[std::string(value.items[i].bytes)] = to_json(value.items[i + 1]);
      }
      return out;
    }
    case Value::Kind::kUnusable:
      break;
  }
  return nullptr;
}

// False where the writer has no words: floats are read, and nothing we say is one.
bool write(const Value& value, ValueWriter& out) {
  switch (value.kind) {
    case Value::Kind::kNil:
      out.nil();
      return true;
    case Value::Kind::kBoolean:
      out.boolean(value.boolean);
      return true;
    case Value::Kind::kUnsigned:
      out.number(value.unsigned_number);
      return true;
    case Value::Kind::kNegative:
      out.signed_number(value.negative_number);
      return true;
    case Value::Kind::kFloat:
    case Value::Kind::kUnusable:
      return false;
    case Value::Kind::kText:
      out.text(value.bytes);
      return true;
    case Value::Kind::kBinary:
      out.binary(as_bytes(value.bytes));
      return true;
    case Value::Kind::kArray:
    case Value::Kind::kMap:
      break;
  }
  if (value.is(Value::Kind::kArray)) {
    out.array(value.items.size());
  } else {
    out.map(value.items.size() / 2);
  }
  for (const Value& item : value.items) {
    if (!write(item, out)) return false;
  }
  return true;
}

// Helper frames of an older encoder: their ids always take nine bytes, where we write the fewest.
bool has_wide_numbers(const std::string& name) {
  return name.starts_with("derived/helper-") && !name.ends_with("-canonical");
}

TEST(ValueGoldenTest, EveryEntryDecodesToItsValue) {
  const Json entries = load_entries();
  ASSERT_GT(entries.size(), 40u);
  for (const Json& entry : entries) {
    SCOPED_TRACE(entry["name"]);
    const Bytes input = from_hex(entry["hex"]);

    const auto value = parse_value(input);

    ASSERT_EQ(input.size(), entry["bytes"].get<std::size_t>());
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(to_json(*value), entry["value"]);
  }
}

TEST(ValueGoldenTest, EveryExactEntryIsWrittenByteForByte) {
  std::size_t compared = 0;
  for (const Json& entry : load_entries()) {
    if (!entry["exact"].get<bool>() || has_wide_numbers(entry["name"])) continue;
    SCOPED_TRACE(entry["name"]);
    const Bytes input = from_hex(entry["hex"]);
    const auto value = parse_value(input);
    ASSERT_TRUE(value);

    ValueWriter out;
    if (!write(*value, out)) continue;

    EXPECT_EQ(to_hex(as_text(out.bytes())), entry["hex"].get<std::string>());
    ++compared;
  }
  EXPECT_GT(compared, 35u);
}

TEST(ValueGoldenTest, EveryTruncationOfEveryEntryIsRefused) {
  for (const Json& entry : load_entries()) {
    SCOPED_TRACE(entry["name"]);
    const Bytes input = from_hex(entry["hex"]);
    for (std::size_t size = 0; size < input.size(); ++size) {
      EXPECT_FALSE(parse_value(ByteView(input).first(size))) << size;
    }
  }
}

}  // namespace
}  // namespace loom
