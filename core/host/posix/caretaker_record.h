#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace loom::host {

enum class CaretakerWord : std::uint32_t {
  kBegin = 1,  // of the helper: a run; answered
  kRegister,   // of a run's first process, before it executes; nobody answers
  kScratch,    // of the helper: a directory to remove after the run; answered
  kRelease,    // of the helper: the run has ended; answered
};

inline constexpr std::size_t kMaxScratchPath = 1'000;  // bytes; more is refused

// Every message to the caretaker and every answer, on a stream: of one size, so that it needs no
// other framing. Small enough to be taken whole or not at all by a socket whose reader keeps up.
// Nothing but plain data: a child between fork and exec sends one too.
struct CaretakerRecord {
  CaretakerWord word;
  // kRegister: the process, which leads its group, as no socket tells of its sender everywhere. Of
  // an answer: errno, 0 when all is well.
  std::int32_t number;
  std::uint64_t run;  // numbered by the helper
  char text[kMaxScratchPath +
            8];  // kScratch: the path; of an answer: what went wrong. Ends with NUL
};
static_assert(std::is_trivially_copyable_v<CaretakerRecord>);
static_assert(sizeof(CaretakerRecord) == 1'024);

}  // namespace loom::host
