#include "host/installation.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "host/errno_text.h"

namespace loom::host {

namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string below(const std::string& directory, const char* rest) {
  return (directory == "/" ? "" : directory) + rest;
}

}  // namespace

Result<Installation> find_installation() {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink("/proc/self/exe", text.data(), text.size());
  if (size <= 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "find the own executable: /proc/self/exe: " + errno_text(error),
                error);
  }
  std::string executable(text.data(), static_cast<std::size_t>(size));
  // The kernel marks a removed file in the text itself, and its neighbours may be anybody's by now.
  if (::access(executable.c_str(), F_OK) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "own executable " + executable + ": " + errno_text(error),
                error);
  }
  const std::string prefix = parent_of(parent_of(executable));
  return Installation{.executable = std::move(executable),
                      .backend_directory = below(prefix, "/lib/loom-exec/backends"),
                      .libexec_directory = below(prefix, "/libexec/loom-exec")};
}

}  // namespace loom::host
