#include "host/installation.h"

#include <loom/utf8.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "host/errno_text.h"
#include "host/own_executable.h"

namespace loom::host {

namespace {

constexpr const char* kDefaultBackend = LOOM_DEFAULT_BACKEND;  // of the sources that make the host

constexpr std::string_view kBackends = "/lib/loom-exec/backends";
constexpr const char* kLibexec = "/libexec/loom-exec";

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string below(const std::string& directory, std::string_view rest) {
  return std::string(directory == "/" ? "" : directory).append(rest);
}

}  // namespace

Result<Installation> find_installation() {
  LOOM_TRY(std::string executable, own_executable());
  // The kernel marks a removed file in the text itself, and its neighbours may be anybody's by now.
  if (::access(executable.c_str(), F_OK) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "own executable " + executable + ": " + errno_text(error),
                error);
  }
  const std::string prefix = parent_of(parent_of(executable));
  return Installation{.executable = std::move(executable),
                      .backend_directory = below(prefix, kBackends),
                      .libexec_directory = below(prefix, kLibexec)};
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

std::vector<std::string> piece_directories(const Installation& installation,
                                           const std::string& backend_file) {
  std::vector<std::string> directories;
  const std::string folder = parent_of(backend_file);
  if (folder.ends_with(kBackends)) {
    const std::string prefix = folder.substr(0, folder.size() - kBackends.size());
    directories.push_back(prefix + kLibexec);
  }
  if (directories.empty() || directories.front() != installation.libexec_directory) {
    directories.push_back(installation.libexec_directory);
  }
  return directories;
}

std::string own_stage2_file(const Installation& installation) {
  return installation.libexec_directory + "/" + kDefaultBackend + "-stage2";
}

}  // namespace loom::host
