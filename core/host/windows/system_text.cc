#include "host/windows/system_text.h"

#include <loom/utf8.h>
#include <windows.h>

#include <cerrno>
#include <limits>

// mingw-w64 10 does not have it.
#ifndef ERROR_ELEVATION_REQUIRED
#define ERROR_ELEVATION_REQUIRED 740L
#endif

namespace loom::windows {

Result<std::wstring> to_wide(std::string_view utf8) {
  if (utf8.empty()) return std::wstring();
  if (!is_utf8(utf8) || utf8.size() > std::size_t{std::numeric_limits<int>::max()}) {
    return fail(ErrorCode::kInvalidRequest, "\"" + escaped(utf8, 256) + "\" is not valid UTF-8");
  }
  const int size = static_cast<int>(utf8.size());
  const int units =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), size, nullptr, 0);
  std::wstring wide(static_cast<std::size_t>(units), L'\0');
  if (units <= 0 || ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), size,
                                          wide.data(), units) != units) {
    return fail(ErrorCode::kInvalidRequest, "\"" + escaped(utf8, 256) + "\" is not valid UTF-8");
  }
  return wide;
}

std::string to_utf8(std::wstring_view wide) {
  if (wide.empty()) return {};
  const int size = static_cast<int>(wide.size());
  const int bytes =
      ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, nullptr, 0, nullptr, nullptr);
  std::string utf8(static_cast<std::size_t>(bytes > 0 ? bytes : 0), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, wide.data(), size, utf8.data(), bytes, nullptr, nullptr);
  return utf8;
}

int errno_of(unsigned long error) noexcept {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_DRIVE:
      return ENOENT;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_ACCESS_DENIED:
    case ERROR_ELEVATION_REQUIRED:
    case ERROR_SHARING_VIOLATION:
      return EACCES;
    case ERROR_BAD_EXE_FORMAT:
    case ERROR_EXE_MACHINE_TYPE_MISMATCH:
      return ENOEXEC;
    case ERROR_FILENAME_EXCED_RANGE:
      return ENAMETOOLONG;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_COMMITMENT_LIMIT:
      return ENOMEM;
    default:
      return EIO;
  }
}

tl::unexpected<Error> system_failure(const std::string& what, unsigned long error) {
  return fail(ErrorCode::kSystem, what + ": Windows error " + std::to_string(error),
              errno_of(error));
}

}  // namespace loom::windows
