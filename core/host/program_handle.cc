#include "host/program_handle.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <string_view>

namespace loom::host {

namespace {

std::string link_of(int handle) { return "/proc/self/fd/" + std::to_string(handle); }

}  // namespace

UniqueFd open_program(const std::string& path, ProgramUse use) noexcept {
  const int flags = use == ProgramUse::kExecute ? O_PATH : O_RDONLY | O_NONBLOCK;
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

bool may_access(int handle, const std::string&, int mode) noexcept {
  return ::faccessat(handle, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

// An O_PATH handle reads nothing itself, hence the second opening.
UniqueFd open_to_read(int handle, const std::string&) noexcept {
  return UniqueFd(::open(link_of(handle).c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<AbsolutePath> place_of(int handle, const std::string&) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::readlink(link_of(handle).c_str(), text.data(), text.size());
  if (size <= 0) return std::nullopt;
  auto path = AbsolutePath::parse(std::string_view(text.data(), static_cast<std::size_t>(size)));
  return path ? std::optional(std::move(*path)) : std::nullopt;
}

bool runs_by_path() noexcept { return false; }

}  // namespace loom::host
