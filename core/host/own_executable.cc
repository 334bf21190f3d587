#include "host/own_executable.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "host/errno_text.h"

namespace loom::host {

Result<std::string> own_executable() {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink("/proc/self/exe", text.data(), text.size());
  if (size > 0) return std::string(text.data(), static_cast<std::size_t>(size));
  const int error = errno;
  return fail(ErrorCode::kSystem, "find the own executable: /proc/self/exe: " + errno_text(error),
              error);
}

}  // namespace loom::host
