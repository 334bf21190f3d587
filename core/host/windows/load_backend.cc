#include "host/windows/load_backend.h"

#include <windows.h>

#include "host/load_backend.h"
#include "host/windows/system_text.h"

namespace loom::windows {
namespace {

Result<const loom_backend_v1*> load(const std::string& file) {
  LOOM_TRY(const std::wstring name, to_wide(file));
  const DWORD attributes = ::GetFileAttributesW(name.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return system_failure("open", ::GetLastError());
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return fail(ErrorCode::kDenied, "is a link");
  }
  // Security: the libraries it needs come from the system's own directory, never from where the
  // helper was started. It is never unloaded, and Windows lets nobody write a file that is mapped
  // to run.
  const HMODULE library = ::LoadLibraryExW(name.c_str(), nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == nullptr) return system_failure("cannot be mapped", ::GetLastError());
  const FARPROC found = ::GetProcAddress(library, LOOM_BACKEND_ENTRY_NAME);
  if (found == nullptr) {
    return fail(ErrorCode::kBackend, "does not export " LOOM_BACKEND_ENTRY_NAME);
  }
  const auto entry = reinterpret_cast<loom_backend_entry>(reinterpret_cast<void*>(found));
  const loom_backend_v1* const table = entry();
  LOOM_TRY_VOID(host::check_table(table));
  return table;
}

}  // namespace

Result<const loom_backend_v1*> load_backend(const std::string& file) {
  auto table = load(file);
  if (table) return table;
  return fail(table.error().code, "backend " + file + ": " + table.error().message,
              table.error().sys_errno);
}

}  // namespace loom::windows
