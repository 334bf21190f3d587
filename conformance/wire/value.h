#pragma once

#include <loom/result.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace loom::conformance {

// A value of the wire. str is text here, bin is nlohmann's binary; maps keep their order.
using Json = nlohmann::ordered_json;

[[nodiscard]] Json binary(std::string_view bytes);
// What a str or a bin holds; empty for anything else.
[[nodiscard]] std::string bytes_of(const Json& value);
[[nodiscard]] std::vector<std::string> texts_of(const Json& list);

// In the smallest encoding there is.
[[nodiscard]] std::string pack(const Json& value);

// How the sender spelled what it sent.
enum class Spelling : unsigned char {
  kSmallest,
  kWideCounts,  // ids and counts in nine bytes each, as an older helper sends them; every broker
                // reads them
  kOther,
};

struct Unpacked {
  Json value{};
  Spelling spelling = Spelling::kSmallest;
};

// Reads as a broker does, which is strictly: one value and nothing behind it, no ext, no float32,
// no float that is not finite, str in UTF-8, keys that are str and stand once, 256 containers deep.
// kBackend: a broker would end the channel.
[[nodiscard]] Result<Unpacked> unpack(std::string_view payload);

}  // namespace loom::conformance
