#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {

namespace {

constexpr std::size_t kFirstReadBytes = 64u << 10;

}  // namespace

Result<Bytes> read_all(int fd, std::size_t max_bytes, const char* what, bool cut_at_limit) {
  Bytes bytes;
  std::size_t used = 0;
  for (;;) {
    // One byte more than allowed is asked for: it tells "exactly the limit" from "too much".
    if (used == bytes.size()) {
      bytes.resize(
          std::min(std::max(kFirstReadBytes, 2 * used), max_bytes + (cut_at_limit ? 0 : 1)));
    }
    if (used == bytes.size()) break;
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      return fail(ErrorCode::kSystem, "read " + std::string(what) + ": " + errno_text(error),
                  error);
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) {
      return fail(ErrorCode::kInvalidRequest,
                  std::string(what) + ": more than " + std::to_string(max_bytes) + " bytes");
    }
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace loom::host
