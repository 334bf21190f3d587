#include "host/windows/installation.h"

#include <loom/utf8.h>
#include <windows.h>

#include <cerrno>

#include "host/windows/native_path.h"
#include "host/windows/system_text.h"
#include "host/windows/unique_handle.h"

namespace loom::windows {
namespace {

constexpr const char* kDefaultBackend = "unsupported";
constexpr DWORD kLongestPath = 32'768;  // UTF-16 units

std::string parent_of(const std::string& path) {
  const std::size_t mark = path.rfind('\\');
  return mark == std::string::npos ? path : path.substr(0, mark);
}

// INVALID_FILE_ATTRIBUTES when there is nothing.
DWORD attributes_of(const std::string& path) {
  const auto wide = to_wide(path);
  return wide ? ::GetFileAttributesW(wide->c_str()) : INVALID_FILE_ATTRIBUTES;
}

std::string directory_by(UINT(WINAPI* ask)(LPWSTR, UINT)) {
  std::wstring text(MAX_PATH, L'\0');
  text.resize(ask(text.data(), MAX_PATH));
  return to_utf8(text);
}

}  // namespace

Result<Installation> find_installation() {
  std::wstring text(kLongestPath, L'\0');
  const DWORD units = ::GetModuleFileNameW(nullptr, text.data(), kLongestPath);
  if (units == 0 || units >= kLongestPath) {
    return system_failure("find the own executable", ::GetLastError());
  }
  text.resize(units);
  const std::string prefix = parent_of(parent_of(to_utf8(text)));
  return Installation{.backend_directory = prefix + "\\lib\\loom-exec\\backends"};
}

Result<std::string> backend_file(const Installation& installation, const std::string& wanted) {
  const std::string name = wanted.empty() ? kDefaultBackend : wanted;
  if (spell_drive_path(name)) return name;
  if (name.find_first_of("\\/:") != std::string::npos || name.front() == '.') {
    return fail(ErrorCode::kInvalidRequest,
                "backend \"" + escaped(name) + "\" is neither a name nor a path with a drive");
  }
  return installation.backend_directory + "\\" + name + ".dll";
}

HostFacts machine_facts() {
  HostFacts facts;
  facts.os = "windows";
#if defined(_M_ARM64) || defined(__aarch64__)
  facts.machine = "aarch64";
#else
  facts.machine = "x86_64";
#endif
  return facts;
}

SystemPlaces system_places() {
  const std::string system = directory_by(&::GetSystemDirectoryW);
  const std::string windows = directory_by(&::GetSystemWindowsDirectoryW);
  return {.drive = windows.substr(0, 2), .directories = {system, windows}};
}

std::string variable(const wchar_t* name) {
  std::wstring value(kLongestPath, L'\0');
  const DWORD units = ::GetEnvironmentVariableW(name, value.data(), kLongestPath);
  value.resize(units < kLongestPath ? units : 0);
  return to_utf8(value);
}

bool is_directory(const std::string& path) {
  const DWORD attributes = attributes_of(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool is_disk_file(const std::string& path) {
  const auto wide = to_wide(path);
  if (!wide || is_directory(path)) return false;
  const UniqueHandle file(::CreateFileW(wide->c_str(), FILE_READ_ATTRIBUTES,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                        nullptr, OPEN_EXISTING, 0, nullptr));
  return file && ::GetFileType(file.get()) == FILE_TYPE_DISK;
}

PathFact look_at(const AbsolutePath& path, const SystemPlaces& places) {
  PathFact fact{.path = path, .real = path};
  const std::string native = native_path(path.str(), places.drive);
  const DWORD attributes = attributes_of(native);
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    fact.error = errno_of(::GetLastError());
    if (fact.error == EIO) fact.error = ENOENT;
  } else {
    const bool directory = (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    fact.kind = directory ? PathKind::kDirectory : PathKind::kRegular;
  }
  return fact;
}

}  // namespace loom::windows
