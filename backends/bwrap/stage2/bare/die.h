#pragma once

namespace loom::bwrap {

// One line on standard error, and the end with 126: for what no Failure can tell, because memory
// ran out or a check of our own failed.
[[noreturn]] void die(const char* why) noexcept;

}  // namespace loom::bwrap
