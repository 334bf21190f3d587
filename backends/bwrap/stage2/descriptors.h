#pragma once

namespace loom::bwrap {

// Descriptors that stage 2 is started with, besides 0, 1 and 2. Its own image has some higher
// number.
inline constexpr int kDocumentFd = 3;
inline constexpr int kReportFd = 4;
inline constexpr int kControlFd = 5;
inline constexpr int kStdinFd = 6;  // the command's standard input, where 0 is the launcher's

// Moves descriptor 6, if there is one, to 0. false: errno says why.
[[nodiscard]] bool adopt_standard_input() noexcept;

// Opens /dev/null for whichever of 0, 1 and 2 is closed, so that no later descriptor gets such a
// number.
[[nodiscard]] bool fill_standard_descriptors() noexcept;

// Closes everything above kControlFd and makes 3 to 5 close-on-exec. false: errno says why.
[[nodiscard]] bool close_unexpected_descriptors();

// Makes every descriptor above 2 close-on-exec; they stay usable until an execve succeeds.
[[nodiscard]] bool mark_descriptors_for_closing();

}  // namespace loom::bwrap
