#include "app/self_test/command_line.h"

#include <fcntl.h>
#include <loom/unique_fd.h>

#include "host/memory_file.h"

namespace loom::app {

std::string command_line(std::int32_t pid) {
  static constexpr std::size_t kMaxCommandLine = 1u << 20;
  const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!file) return text;
  const auto bytes = host::read_all(file.get(), kMaxCommandLine, "cmdline", true);
  if (!bytes) return text;
  for (const std::byte byte : *bytes) text.push_back(static_cast<char>(byte));
  return text;
}

}  // namespace loom::app
