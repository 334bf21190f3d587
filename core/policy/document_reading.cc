#include "policy/document_reading.h"

#include <algorithm>

#include "policy/check_policy_paths.h"

namespace loom {
namespace {

constexpr std::size_t kMaxListedBytes = 4'096;  // of unknown keys in one message

std::string listed(const std::vector<std::string_view>& keys) {
  std::string text;
  for (const std::string_view key : keys) {
    if (text.size() > kMaxListedBytes) return text + ", …";
    text += (text.empty() ? "" : ", ") + quoted(key);
  }
  return text;
}

}  // namespace

std::string expected(std::string_view what, const Value& found) {
  const bool unusable = found.is(Value::Kind::kUnusable);
  return "expected " + std::string(what) + ", found " +
         std::string(unusable ? found.bytes : kind_name(found.kind));
}

bool is_string(const Value& value) noexcept {
  return value.is(Value::Kind::kText) || value.is(Value::Kind::kBinary);
}

std::string quoted_or_type(const Value& value) {
  return is_string(value) ? quoted(value.bytes)
                          : "a value of type " + std::string(kind_name(value.kind));
}

std::string element(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::vector<std::string_view> unknown_keys(const Value& map,
                                           std::span<const std::string_view> known) {
  std::vector<std::string_view> unknown;
  for (std::size_t i = 0; i < map.items.size(); i += 2) {
    const std::string_view key = map.items[i].bytes;
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown.push_back(key);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

Result<void> check_keys(const Value& map, std::span<const std::string_view> known,
                        std::span<const std::string_view> required, const std::string& place) {
  const auto unknown = unknown_keys(map, known);
  if (!unknown.empty()) return refuse_policy(place + "unknown keys " + listed(unknown));
  for (const std::string_view key : required) {
    if (map.find(key) == nullptr) {
      return refuse_policy(place + "missing required key " + quoted(key));
    }
  }
  return {};
}

}  // namespace loom
