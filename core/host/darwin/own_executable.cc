#include "host/own_executable.h"

#include <mach-o/dyld.h>
#include <stdlib.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "host/errno_text.h"

namespace loom::host {

// dyld(3) gives the path that was executed, which may hold links and dots.
Result<std::string> own_executable() {
  std::array<char, PATH_MAX> asked{};
  auto size = static_cast<std::uint32_t>(asked.size());
  if (::_NSGetExecutablePath(asked.data(), &size) != 0) {
    return fail(ErrorCode::kSystem, "find the own executable: its path is too long", ENAMETOOLONG);
  }
  std::array<char, PATH_MAX> real{};
  if (::realpath(asked.data(), real.data()) != nullptr) return std::string(real.data());
  const int error = errno;
  return fail(ErrorCode::kSystem, "find the own executable: " + errno_text(error), error);
}

}  // namespace loom::host
