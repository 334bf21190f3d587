#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace loom::test {

// All of a file, empty when it cannot be read. By way of a stream: of two iterators over one the
// optimizer of gcc 12 believes that they may be null.
inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace loom::test
