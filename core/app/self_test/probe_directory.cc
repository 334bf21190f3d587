#include "app/self_test/probe_directory.h"

#include <fcntl.h>
#include <loom/check.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "host/errno_text.h"
#include "host/memory_file.h"
#include "host/random_name.h"

namespace loom::app {
namespace {

constexpr std::size_t kMaxReadBytes = 1u << 20;

tl::unexpected<Error> step_failed(const std::string& path, const char* step, int error) {
  return fail(ErrorCode::kSystem, path + ": " + step + ": " + host::errno_text(error), error);
}

}  // namespace

Result<ProbeDirectory> ProbeDirectory::make(const AbsolutePath& base) {
  std::string path = (base.is_root() ? "" : base.str()) + "/loom-selftest-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return step_failed(base.str(), "mkdtemp", errno);
  return ProbeDirectory(std::move(path));
}

ProbeDirectory::~ProbeDirectory() noexcept {
  if (path_.empty()) return;
  std::error_code ignored;  // whoever looks finds the name, which says whose it was
  std::filesystem::remove_all(path_, ignored);
}

AbsolutePath ProbeDirectory::at(std::string_view name) const {
  auto path = AbsolutePath::parse(path_ + "/" + std::string(name));
  LOOM_CHECK(path.has_value());
  return std::move(*path);
}

Result<void> ProbeDirectory::add_directories(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const std::string path = at(name).str();
    if (::mkdir(path.c_str(), 0700) != 0) return step_failed(path, "mkdir", errno);
  }
  return {};
}

Result<void> ProbeDirectory::write(std::string_view name, std::string_view text) const {
  const std::string path = at(name).str();
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return step_failed(path, "open", errno);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written < 0) return step_failed(path, "write", errno);
  if (static_cast<std::size_t>(written) != text.size()) return step_failed(path, "write", ENOSPC);
  return {};
}

std::optional<std::string> ProbeDirectory::read(std::string_view name) const {
  const UniqueFd file(::open(at(name).str().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return std::nullopt;
  const auto bytes = host::read_all(file.get(), kMaxReadBytes, "probe file");
  if (!bytes) return std::nullopt;
  std::string text;
  for (const std::byte byte : *bytes) text.push_back(static_cast<char>(byte));
  return text;
}

bool ProbeDirectory::has(std::string_view name) const {
  struct stat info {};
  return ::lstat(at(name).str().c_str(), &info) == 0;
}

std::optional<std::uint64_t> ProbeDirectory::size(std::string_view name) const {
  struct stat info {};
  if (::lstat(at(name).str().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::string> make_marker(std::string_view what) {
  LOOM_TRY(const std::string hex, host::random_hex(8));
  return "loom-probe-" + std::string(what) + "-" + hex;
}

}  // namespace loom::app
