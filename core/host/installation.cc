#include "host/installation.h"

#include <loom/utf8.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>

#include "host/errno_text.h"

namespace loom::host {

namespace {

constexpr const char* kDefaultBackend =
#if defined(__linux__)
    "bwrap";
#elif defined(__APPLE__)
    "seatbelt";
#else
    "unsupported";
#endif

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

Result<std::string> backend_file(const Installation& installation, const std::string& wanted) {
  const std::string name = wanted.empty() ? kDefaultBackend : wanted;
  if (name.front() == '/') return name;
  // A name is a file of the fixed folder, never a way out of it.
  if (name.find('/') != std::string::npos || name.front() == '.') {
    return fail(ErrorCode::kInvalidRequest,
                "backend \"" + escaped(name) + "\" is neither a name nor an absolute path");
  }
  return installation.backend_directory + "/" + name + ".so";
}

HostFacts machine_facts() {
  HostFacts facts;
  utsname name{};
  if (::uname(&name) == 0) {
    facts.os = name.sysname;
    std::transform(facts.os.begin(), facts.os.end(), facts.os.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    facts.machine = name.machine;
  }
  facts.uid = ::getuid();
  facts.gid = ::getgid();
  return facts;
}

}  // namespace loom::host
