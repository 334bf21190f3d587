#pragma once

#include <loom/result.h>

#include "host/windows/unique_handle.h"

namespace loom::windows {

struct PipeEnds {
  UniqueHandle read;
  UniqueHandle write;
};

// Neither end can be inherited until somebody says so.
[[nodiscard]] Result<PipeEnds> make_pipe();

// A handle of our own for the same thing, not inherited. Nothing for a handle that is none.
[[nodiscard]] Result<UniqueHandle> duplicate(HANDLE handle, const char* what);

// Whether `handle` is a pipe that can still be read from.
[[nodiscard]] bool is_live_pipe(HANDLE handle) noexcept;

// Whether whoever writes into `pipe` is gone, and everything was read. False for what is no pipe.
// Waits while a thread is inside of a read from it (PeekNamedPipe is an operation as any other on a
// file that is not opened for overlapped ones), and so does is_live_pipe.
[[nodiscard]] bool has_ended(HANDLE pipe) noexcept;

}  // namespace loom::windows
