#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace loom {

// One decoded msgpack value: the common ground of the wire, the policy document, the values that
// cross the backend boundary and the document of stage 2. Only parse_value makes trees from bytes,
// so every reader gets the same strictness.
//
// Text and binary are borrowed from the bytes that were parsed; keep those alive.
struct Value {
  enum class Kind : std::uint8_t {
    kNil,
    kBoolean,
    kUnsigned,  // any integer >= 0, whatever form it was written in
    kNegative,  // any integer < 0
    kFloat,     // float64
    kText,      // str. Not checked for UTF-8: paths and arguments are bytes
    kBinary,    // bin
    kArray,
    kMap,
    kUnusable,  // sound msgpack that we never take; only under Unusable::kKept. `bytes` says what
  };

  Kind kind = Kind::kNil;
  bool boolean = false;
  std::uint64_t unsigned_number = 0;
  std::int64_t negative_number = 0;
  double float_number = 0;
  std::string_view bytes{};    // kText and kBinary
  std::vector<Value> items{};  // kArray: the elements. kMap: key, value, key, value, …

  [[nodiscard]] bool is(Kind k) const noexcept { return kind == k; }
  // The value of a text key, or null. Map only; keys are unique, parse_value saw to it.
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;
};

// What a kind is called in messages: "map", "array", "string", "binary", "integer", …
[[nodiscard]] std::string_view kind_name(Value::Kind kind) noexcept;

inline constexpr std::size_t kMaxValueNesting = 256;  // containers inside containers (D20)
inline constexpr std::size_t kMaxValueItems =
    262'144;  // values in one document, all levels together

// Reads exactly one msgpack value that fills `bytes` completely.
//
// Refused with kInvalidRequest: truncated or empty input, bytes after the value, ext types,
// float32, non-finite float64, the unused byte c1, a map with two equal keys, more than
// kMaxValueNesting levels, more than kMaxValueItems values. Non-minimal headers are accepted. Never
// reserves memory on the strength of an announced length.
[[nodiscard]] Result<Value> parse_value(ByteView bytes);

// The same, but an ext, a float32, a non-finite float or a map with two equal keys becomes one
// value of kUnusable, so that a message is refused where it is unusable and not as a whole
// (docs/wire.md 9).
[[nodiscard]] Result<Value> parse_value_keeping_unusable(ByteView bytes);

// Writes msgpack, always in the smallest encoding. Nothing checks that what was announced is
// written; the writer's caller does, by construction.
class ValueWriter {
 public:
  void nil();
  void boolean(bool value);
  void number(std::uint64_t value);
  void signed_number(std::int64_t value);
  void text(
      std::string_view utf8);   // str; the caller vouches for UTF-8 where the reader demands it
  void binary(ByteView bytes);  // bin
  // A bin of which only the header is written; its bytes follow by another way.
  void binary_header(std::size_t size);
  // str when the bytes are valid UTF-8, else bin: how file names, arguments and variables travel.
  void name(std::string_view bytes);
  void array(std::size_t count);  // followed by `count` values
  void map(std::size_t count);    // followed by `count` times key, value
  void encoded(ByteView value);   // an already encoded value, copied as it is

  // Room for `bytes` in all, so that a large value is copied once.
  void reserve(std::size_t bytes) { out_.reserve(bytes); }

  [[nodiscard]] const Bytes& bytes() const noexcept { return out_; }
  [[nodiscard]] Bytes take() noexcept { return std::move(out_); }

 private:
  Bytes out_;
};

}  // namespace loom
