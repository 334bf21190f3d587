#pragma once

namespace loom::seatbelt {

// Descriptors that stage 2 is started with, besides 0, 1 and 2. The launcher's own (a long profile)
// have higher numbers.
inline constexpr int kDocumentFd = 3;
inline constexpr int kReportFd = 4;
inline constexpr int kControlFd = 5;

// Opens /dev/null for whichever of 0, 1 and 2 is closed, so that no later descriptor gets such a
// number. false: errno says why.
[[nodiscard]] bool fill_standard_descriptors() noexcept;

// Closes everything above kControlFd and makes 3 to 5 close-on-exec. Before the descriptor limit is
// lowered: where the system does not list a process's descriptors, each number below it is tried.
void close_unexpected_descriptors();

}  // namespace loom::seatbelt
