#pragma once

#include <cstddef>
#include <cstdint>

#include "packed_reader.h"

// The control channel and what travels on it (<loom/stage2_control.h>), without that header: the
// types there own memory, and this program allocates none.
namespace landlock::stage2 {

// Descriptors, as render numbers them.
inline constexpr int kDocumentFd = 3;
inline constexpr int kReportFd = 4;
inline constexpr int kControlFd = 5;

// The numbers of loom::Stage2Step; a test compares them.
enum class Step : std::uint32_t {
  kDocument = 1,
  kLimits = 3,
  kSession = 4,
  kNoNewPrivs = 5,
  kCapabilities = 6,
  kLandlock = 7,
  kFilter = 8,
  kReport = 9,
  kCommit = 10,
  kExecRules = 11,
  kDirectory = 12,
  kLookup = 13,
  kExecute = 14
};

// Tells the host, and people, which step stopped on which thing; exits with 126. `error` is an
// errno or 0.
[[noreturn]] void give_up(Step step, const char* thing, int error) noexcept;

// A sealed memory file, copied to memory of this process's own.
struct Document {
  char* bytes = nullptr;  // one more than `size`, for PackedReader
  std::size_t size = 0;
};
Document read_document(int fd, Step step, const char* name) noexcept;

// What becomes of this process. Lists end in a null pointer, as execve wants them.
struct Commit {
  char** argv = nullptr;  // not empty
  char** environment = nullptr;
  const char* cwd = nullptr;  // empty for "/"
};
// false: not a commit document, or one that promises what this program does not do.
bool decode_commit(Document document, Commit& commit) noexcept;

// The report is out and what it says is in force.
void send_ready() noexcept;
// Waits for the host's word. End of file gives up: no live helper, no command.
Commit await_commit() noexcept;

}  // namespace landlock::stage2
