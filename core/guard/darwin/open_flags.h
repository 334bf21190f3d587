#pragma once

#include <fcntl.h>

namespace loom::guard {

// In <sys/fcntl.h> since the headers of macOS 13; the numbers are part of the kernel's interface
// (xnu, bsd/sys/fcntl.h). A kernel that does not know O_EXEC opens for reading instead, and a
// directory that may only be searched is then search_denied.
#ifndef O_EXEC
#define O_EXEC 0x40000000
#endif
#ifndef O_SEARCH
#define O_SEARCH (O_EXEC | O_DIRECTORY)
#endif

// O_EVTONLY: a volume that is ejected meanwhile is not kept by the handle. It takes the right to
// read the file nevertheless (open(2)). O_NONBLOCK: a FIFO may have taken the name.
inline constexpr int kOpenDirectory = O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
inline constexpr int kOpenLink = O_SYMLINK | O_EVTONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
inline constexpr int kOpenFile = O_EVTONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
inline constexpr int kOpenProgram = O_EXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

}  // namespace loom::guard
