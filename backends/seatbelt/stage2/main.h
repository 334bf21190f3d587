#pragma once

namespace loom::seatbelt {

// Runs inside the profile, restricts itself by the document on descriptor 3, reports on 4, and
// becomes the command that arrives on 5. Reads no argument and no variable.
[[noreturn]] void run_stage2() noexcept;

}  // namespace loom::seatbelt
