#pragma once

namespace loom::host {

// Adds F_SEAL_* seals to a memory file; returns 0 or the errno of the last try.
//
// F_SEAL_WRITE fails with EBUSY not only for a writable mapping, as fcntl(2) says, but whenever a
// page of the file has one reference more than the kernel can explain (mm/memfd.c counts them to
// find writes by direct I/O). Reclaim, migration and DAMON hold such references for a moment on a
// busy host, and the kernel's own patience ends after 75 ms. So EBUSY is tried again, for
// half a second at most: the one sleep of a handler (docs/adr/0005).
[[nodiscard]] int add_seals(int file, int seals);

}  // namespace loom::host
