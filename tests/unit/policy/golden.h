#pragma once

#include <loom/bytes.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace loom::test {

inline Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// The bytes of one entry of tests/golden/msgpack.json; empty when there is none of that name.
inline Bytes golden(std::string_view name) {
  std::ifstream file(LOOM_SOURCE_DIR "/tests/golden/msgpack.json");
  for (const nlohmann::json& entry : nlohmann::json::parse(file)) {
    if (entry.at("name") == name) return from_hex(entry.at("hex").get<std::string>());
  }
  return {};
}

}  // namespace loom::test
