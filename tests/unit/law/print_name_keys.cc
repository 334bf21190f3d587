// Prints the key of each name on standard input, one a line and both in hexadecimal, for
// compare_name_keys.py. With an argument: the version of Unicode.

#include <iostream>
#include <string>
#include <string_view>

#include "law/name_key.h"
#include "law/name_tables.h"

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(byte) & 0x0F]);
  }
  return text;
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    std::cout << loom::law::kNameTables.version << '\n';
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << to_hex(loom::law::name_key(from_hex(line))) << '\n';
  }
  return 0;
}
