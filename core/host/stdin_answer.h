#pragma once

#include <cstddef>

namespace loom::host {

inline constexpr std::size_t kMaxPendingStdin = 16'777'216;  // equal to the largest frame

enum class StdinAnswer : unsigned char {
  kAccepted,
  kWait,         // no room now; offer the same chunk again when something was written
  kAfterEof,     // a chunk after eof
  kEnded,        // the execution has ended
  kWriteFailed,  // an earlier write failed; said once, by the first chunk after it, and by each
                 // later one
};

}  // namespace loom::host
