#include "app/self_test/command_line.h"

#include <sys/sysctl.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace loom::app {
namespace {

// What execve(2) takes at most (ARG_MAX), arguments and environment together.
constexpr std::size_t kMaxArguments = 1u << 20;

// A number of words, the path that was executed, NULs up to a word boundary, then the words of the
// command line and the environment behind them, each with a NUL (sysctl(3), KERN_PROCARGS2).
std::string words_of(const std::vector<char>& area) {
  int count = 0;
  if (area.size() < sizeof count) return {};
  std::memcpy(&count, area.data(), sizeof count);
  auto at = std::find(area.begin() + sizeof count, area.end(), '\0');
  at = std::find_if(at, area.end(), [](char byte) { return byte != '\0'; });
  const auto begin = at;
  for (int word = 0; word < count && at != area.end(); ++word) {
    at = std::find(at, area.end(), '\0');
    if (at != area.end()) ++at;
  }
  return {begin, at};
}

}  // namespace

std::string command_line(std::int32_t pid) {
  std::array<int, 3> name = {CTL_KERN, KERN_PROCARGS2, pid};
  std::vector<char> area(kMaxArguments);
  std::size_t size = area.size();
  if (::sysctl(name.data(), static_cast<u_int>(name.size()), area.data(), &size, nullptr, 0) != 0) {
    return {};
  }
  area.resize(std::min(size, area.size()));
  return words_of(area);
}

}  // namespace loom::app
