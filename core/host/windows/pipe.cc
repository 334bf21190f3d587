#include "host/windows/pipe.h"

#include <string>

#include "host/windows/system_text.h"

namespace loom::windows {

Result<PipeEnds> make_pipe() {
  constexpr DWORD kPipeBytes = 1u << 16;
  HANDLE read_end = nullptr;
  HANDLE write_end = nullptr;
  if (::CreatePipe(&read_end, &write_end, nullptr, kPipeBytes) == 0) {
    return system_failure("pipe", ::GetLastError());
  }
  return PipeEnds{.read = UniqueHandle(read_end), .write = UniqueHandle(write_end)};
}

Result<UniqueHandle> duplicate(HANDLE handle, const char* what) {
  const HANDLE self = ::GetCurrentProcess();
  HANDLE copy = nullptr;
  if (::DuplicateHandle(self, handle, self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0) {
    return system_failure(what, ::GetLastError());
  }
  return UniqueHandle(copy);
}

bool is_live_pipe(HANDLE handle) noexcept {
  return ::PeekNamedPipe(handle, nullptr, 0, nullptr, nullptr, nullptr) != 0;
}

bool has_ended(HANDLE pipe) noexcept {
  return !is_live_pipe(pipe) && ::GetLastError() == ERROR_BROKEN_PIPE;
}

}  // namespace loom::windows
