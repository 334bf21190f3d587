#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace loom::test {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

void expect_golden(const std::vector<std::string>& lines, const std::string& file) {
  const std::string path = LOOM_SOURCE_DIR "/tests/golden/" + file;
  if (is_set("LOOM_UPDATE_GOLDENS")) {
    ASSERT_FALSE(is_set("CI")) << "goldens are not updated where nobody reads them";
    std::ofstream out(path);
    for (const std::string& line : lines) out << line << '\n';
    ASSERT_TRUE(out.flush().good()) << path;
    return;
  }
  EXPECT_EQ(lines_of(path), lines)
      << "golden " << path << " differs; cmake --build … --target update-goldens";
}

}  // namespace loom::test
