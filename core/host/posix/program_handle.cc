#include "host/program_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>

namespace loom::host {

namespace {

bool leads_to(const std::string& path, int handle) noexcept {
  struct stat named {};
  struct stat held {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(handle, &held) == 0 &&
         named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

// For a program that may be executed and not read.
constexpr int kByName =
#if defined(O_EXEC)
    O_EXEC;
#elif defined(O_PATH)
    O_PATH;
#else
    O_RDONLY;
#endif

}  // namespace

UniqueFd open_program(const std::string& path, ProgramUse use) noexcept {
  UniqueFd handle(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (handle || use == ProgramUse::kCopy) return handle;
  return UniqueFd(::open(path.c_str(), kByName | O_CLOEXEC));
}

bool may_access(int, const std::string& path, int mode) noexcept {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

// Whoever reads a path that leads elsewhere by now would learn of another program.
UniqueFd open_to_read(int handle, const std::string& path) noexcept {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat opened {};
  struct stat held {};
  const bool same = file && ::fstat(file.get(), &opened) == 0 && ::fstat(handle, &held) == 0 &&
                    opened.st_dev == held.st_dev && opened.st_ino == held.st_ino;
  return same ? std::move(file) : UniqueFd();
}

std::optional<AbsolutePath> place_of(int handle, const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(path.c_str(), real.data()) == nullptr) return std::nullopt;
  auto place = AbsolutePath::parse(real.data());
  if (!place || !leads_to(place->str(), handle)) return std::nullopt;
  return std::move(*place);
}

bool runs_by_path() noexcept { return true; }

}  // namespace loom::host
