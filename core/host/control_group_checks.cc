#include "host/control_group_checks.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>

#include "host/control_group_files.h"
#include "host/control_group_text.h"
#include "host/errno_text.h"
#include "host/memory_file.h"
#include "host/random_name.h"

namespace loom::host {

namespace {

constexpr std::uint64_t kControlGroupMagic = 0x63677270;  // CGROUP2_SUPER_MAGIC of linux/magic.h

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 16> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string objection_of(const std::string& directory, const Error& error) {
  return escaped(directory) + ": " + error.message;
}

std::string process_objection(const std::string& path, int directory) {
  const auto procs = read_control_file(directory, "cgroup.procs");
  if (!procs) return objection_of(path, procs.error());
  const std::size_t count = count_processes(*procs);
  if (count == 0) return {};
  return escaped(path) + ": " + std::to_string(count) +
         (count == 1 ? " process is in it" : " processes are in it") +
         ", which the no-internal-process rule of cgroup v2 forbids";
}

// Unique, because many helpers look at one base at the same time.
std::string probe_objection(const std::string& path, int directory) {
  const auto hex = random_hex(8);
  if (!hex) return objection_of(path, hex.error());
  const std::string name = "loom-exec-probe-" + *hex;
  if (::mkdirat(directory, name.c_str(), 0755) != 0) {
    const int error = errno;
    return escaped(path) + ": no group can be made in it: " + errno_text(error);
  }
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) == 0) return {};
  const int error = errno;
  return escaped(path) + ": " + name + " cannot be removed again: " + errno_text(error);
}

bool is_within(const std::string& path, const std::string& ancestor) {
  return path == ancestor || path.starts_with(ancestor == "/" ? ancestor : ancestor + '/');
}

}  // namespace

std::string file_system_objection(const std::string& directory) {
  struct statfs about {};
  if (::statfs(directory.c_str(), &about) != 0) {
    const int error = errno;
    return escaped(directory) + ": no cgroup v2 directory: " + errno_text(error);
  }
  const auto found = static_cast<std::uint64_t>(about.f_type);
  if (found == kControlGroupMagic) return {};
  return escaped(directory) + ": no cgroup v2 directory: its file system is of type " +
         hexadecimal(found) + ", and cgroup2 is " + hexadecimal(kControlGroupMagic);
}

std::string controllers_objection(const std::string& directory) {
  const auto handle = open_control_directory(directory);
  if (!handle) return handle.error().message;
  const auto controllers = read_control_file(handle->get(), "cgroup.controllers");
  if (!controllers) return objection_of(directory, controllers.error());
  const auto missing = missing_controllers(*controllers);
  if (missing.empty()) return {};
  return escaped(directory) + ": without the " + missing.front() +
         (missing.size() == 2 ? " and " + missing.back() + " controllers" : " controller");
}

std::string interface_objection(const std::string& directory, bool is_root) {
  if (auto objection = controllers_objection(directory); !objection.empty()) return objection;
  const auto handle = open_control_directory(directory);
  if (!handle) return handle.error().message;
  if (!is_root) {
    auto objection = process_objection(directory, handle->get());
    if (!objection.empty()) return objection;
  }
  return probe_objection(directory, handle->get());
}

Result<std::string> read_own_control_group(const std::string& file) {
  const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "open " + escaped(file) + ": " + errno_text(error), error);
  }
  LOOM_TRY(const Bytes text, read_all(opened.get(), kMaxControlFileBytes, file.c_str(), true));
  if (auto own = own_control_group(as_text(text))) return std::move(*own);
  return fail(ErrorCode::kUnsupported, escaped(file) + ": names no group of cgroup v2");
}

std::string reach_objection(const std::string& base, const ControlGroupPlaces& places) {
  const auto own = read_own_control_group(places.own);
  if (!own || !is_within(base, places.mount)) return {};
  const std::string from = places.mount + *own;
  if (::access((from + "/cgroup.procs").c_str(), F_OK) != 0) return {};
  if (is_within(from, base)) return {};
  const std::string gate = common_ancestor(from, base) + "/cgroup.procs";
  if (::access(gate.c_str(), W_OK) == 0) return {};
  const int error = errno;
  return escaped(base) + ": no process can be moved there from " + escaped(from) + ": " +
         escaped(gate) + ": " + errno_text(error);
}

}  // namespace loom::host
