#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace loom::conformance {

// All of a process that a backend must leave alone, as text that can be compared.
struct ProcessState {
  std::map<int, std::string> descriptors{};  // number -> what it leads to
  std::map<int, std::string> signals{};      // number -> handler, flags; 0: the mask
  std::vector<std::string> environment{};
  std::string locale{};
  std::string directory{};
  std::uint32_t umask = 0;
  std::vector<std::string> threads{};
  std::vector<std::string> children{};
  std::vector<std::string> limits{};
  std::string privileges{};  // ids, capabilities, filters: lines of /proc/self/status
  std::size_t printed = 0;   // bytes on standard output and error, which are one memory file
};

// Of this process, now.
[[nodiscard]] ProcessState look_at_this_process();

}  // namespace loom::conformance
