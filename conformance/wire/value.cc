#include "value.h"

#include <loom/utf8.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <msgpack.hpp>

namespace loom::conformance {
namespace {

// What one payload may hold; the frame's own ceiling bounds the bytes.
constexpr std::size_t kMaxItems = 262'144;
constexpr std::size_t kMaxPayload = 16'777'216;
constexpr std::size_t kMaxNesting = 256;
constexpr std::size_t kMaxKeys = 1'024;  // no body has near as many

// What the older helper types as 64 bits (Spelling::kWideCounts).
constexpr std::array<std::string_view, 5> kCounts = {"id", "bytes", "stdout_bytes", "stderr_bytes",
                                                     "wall_ms"};

class Out {
 public:
  void write(const char* bytes, std::size_t size) { text.append(bytes, size); }
  std::string text{};
};
using Packer = msgpack::packer<Out>;

class Encoder {
 public:
  explicit Encoder(bool wide_counts) : wide_counts_(wide_counts) {}

  void add(const Json& value);
  [[nodiscard]] std::string take() { return std::move(out_.text); }

 private:
  void add_text(std::string_view text);
  void add_bytes(const std::string& bytes);
  void add_map(const Json& map);
  void add_float(double number);

  bool wide_counts_;
  Out out_{};
  Packer packer_{out_};
};

void Encoder::add_text(std::string_view text) {
  packer_.pack_str(static_cast<std::uint32_t>(text.size()));
  packer_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
}

void Encoder::add_bytes(const std::string& bytes) {
  packer_.pack_bin(static_cast<std::uint32_t>(bytes.size()));
  packer_.pack_bin_body(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}

// The library would make an integer of a whole one.
void Encoder::add_float(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  std::string bytes = "\xcb";
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>((bits >> shift) & 0xFF);
  out_.write(bytes.data(), bytes.size());
}

void Encoder::add_map(const Json& map) {
  packer_.pack_map(static_cast<std::uint32_t>(map.size()));
  for (const auto& [key, item] : map.items()) {
    add_text(key);
    const bool count = std::find(kCounts.begin(), kCounts.end(), key) != kCounts.end();
    if (wide_counts_ && count && item.is_number_unsigned()) {
      packer_.pack_fix_uint64(item.get<std::uint64_t>());
    } else {
      add(item);
    }
  }
}

void Encoder::add(const Json& value) {
  if (value.is_object()) return add_map(value);
  if (value.is_string()) return add_text(value.get_ref<const std::string&>());
  if (value.is_binary()) return add_bytes(bytes_of(value));
  if (value.is_number_float()) return add_float(value.get<double>());
  if (value.is_array()) {
    packer_.pack_array(static_cast<std::uint32_t>(value.size()));
    for (const Json& item : value) add(item);
  } else if (value.is_boolean()) {
    value.get<bool>() ? packer_.pack_true() : packer_.pack_false();
  } else if (value.is_number_unsigned()) {
    packer_.pack_uint64(value.get<std::uint64_t>());
  } else if (value.is_number_integer()) {
    packer_.pack_int64(value.get<std::int64_t>());
  } else {
    packer_.pack_nil();
  }
}

std::string spelled(const Json& value, bool wide_counts) {
  Encoder encoder(wide_counts);
  encoder.add(value);
  return encoder.take();
}

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::kBackend, "a payload that no broker reads: " + why);
}

Result<Json> to_json(const msgpack::object& object);

Result<Json> text_to_json(const msgpack::object& object) {
  const std::string_view text(object.via.str.ptr, object.via.str.size);
  if (!is_utf8(text)) return refuse("a str that is not UTF-8: " + escaped(text, 200));
  return Json(std::string(text));
}

Result<Json> map_to_json(const msgpack::object& object) {
  Json map = Json::object();
  if (object.via.map.size > kMaxKeys) return refuse("a map of more keys than any body has");
  for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
    const msgpack::object_kv& pair = object.via.map.ptr[i];
    if (pair.key.type != msgpack::type::STR) return refuse("a key that is not a str");
    LOOM_TRY(const Json key, text_to_json(pair.key));
    const auto& name = key.get_ref<const std::string&>();
    if (map.contains(name)) return refuse("a map with the key " + escaped(name) + " twice");
    LOOM_TRY(map[name], to_json(pair.val));
  }
  return map;
}

Result<Json> list_to_json(const msgpack::object& object) {
  Json list = Json::array();
  for (std::uint32_t i = 0; i < object.via.array.size; ++i) {
    LOOM_TRY(Json item, to_json(object.via.array.ptr[i]));
    list.push_back(std::move(item));
  }
  return list;
}

Result<Json> to_json(const msgpack::object& object) {
  switch (object.type) {
    case msgpack::type::NIL:
      return Json(nullptr);
    case msgpack::type::BOOLEAN:
      return Json(object.via.boolean);
    case msgpack::type::POSITIVE_INTEGER:
      return Json(object.via.u64);
    case msgpack::type::NEGATIVE_INTEGER:
      return Json(object.via.i64);
    case msgpack::type::FLOAT64:
      if (!std::isfinite(object.via.f64)) return refuse("a float that is not finite");
      return Json(object.via.f64);
    case msgpack::type::STR:
      return text_to_json(object);
    case msgpack::type::BIN:
      return binary({object.via.bin.ptr, object.via.bin.size});
    case msgpack::type::ARRAY:
      return list_to_json(object);
    case msgpack::type::MAP:
      return map_to_json(object);
    case msgpack::type::FLOAT32:
      return refuse("a float32");
    case msgpack::type::EXT:
      return refuse("an ext");
  }
  return refuse("an unknown type");
}

}  // namespace

Json binary(std::string_view bytes) {
  return Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

std::string bytes_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_binary()) return {};
  const auto& bytes = value.get_binary();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list) texts.push_back(bytes_of(item));
  return texts;
}

std::string pack(const Json& value) { return spelled(value, false); }

// The one place that the library's exceptions reach.
Result<Unpacked> unpack(std::string_view payload) try {
  const msgpack::unpack_limit limits(kMaxItems, kMaxItems, kMaxPayload, kMaxPayload, kMaxPayload,
                                     kMaxNesting);
  std::size_t used = 0;
  const msgpack::object_handle handle =
      msgpack::unpack(payload.data(), payload.size(), used, nullptr, nullptr, limits);
  if (used != payload.size()) return refuse("bytes behind the value");
  Unpacked unpacked;
  LOOM_TRY(unpacked.value, to_json(handle.get()));
  if (payload == spelled(unpacked.value, false)) return unpacked;
  const bool wide = payload == spelled(unpacked.value, true);
  unpacked.spelling = wide ? Spelling::kWideCounts : Spelling::kOther;
  return unpacked;
} catch (const std::exception& thrown) {
  return refuse(std::string(thrown.what()) + ": " + escaped(payload, 200));
}

}  // namespace loom::conformance
