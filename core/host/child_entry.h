#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace loom::host {

struct FdMove {
  int from;  // open in the parent, close-on-exec, above every `to`
  int to;    // the number the image sees, open across exec
};

// A resource limit as plain numbers (RLIMIT_…).
struct PlainLimit {
  int resource;
  std::uint64_t soft;
  std::uint64_t hard;
};

enum class ChildStep : std::int32_t {
  kParentGone = 1,
  kSession,
  kRegister,
  kSignals,
  kDescriptors,
  kDirectory,
  kLimits,
  kExecute,
};

// What the child says before it exits 126, in the host's byte order.
struct ChildFailure {
  ChildStep step;      // 0: nothing was said
  std::int32_t error;  // errno
};

// Everything the child needs, prepared before fork. Plain data: the child may read it and
// nothing else, and writes `failure` at most.
struct ChildSpec {
  // A gate: the child first waits for a byte on this pipe, and exits 125 when it is closed without
  // one. -1: none.
  int gate;
  int gate_opener;  // the child's copy of the pipe's other end, closed before it waits
  int image_fd;     // executed by handle; -1: `candidates` are tried instead
  const char* const* candidates;  // absolute paths, NULL-terminated; the first that exists decides
  char* const* argv;              // NULL-terminated
  char* const* envp;              // NULL-terminated
  const char* directory;          // entered before exec
  const FdMove* moves;            // sorted by `to`, no number twice
  std::size_t move_count;
  const PlainLimit* limits;
  std::size_t limit_count;
  std::uint64_t signals;  // bit n - 1: signal n may have another disposition than the default
  // The helper's end of the caretaker's socket, close-on-exec: the caretaker is told that this
  // process belongs to `run`, and sees the socket's end no sooner than this process executes. -1:
  // none.
  int caretaker;
  std::uint64_t run;
  pid_t parent;          // the helper; a child whose parent is another by now exits
  bool die_with_parent;  // SIGKILL when the helper dies; a launcher arms that itself
  // Where a ChildFailure goes: of a child that borrows the parent's memory, to this place there;
  // null: to report_fd, close-on-exec, which a successful exec closes, and that is the good news.
  ChildFailure* failure;
  int report_fd;
  // Where no call marks a range of descriptors: the highest one open when this process was made.
  int highest_descriptor;
};
static_assert(std::is_trivially_copyable_v<ChildSpec>);

// Runs in the child between fork and exec. Async-signal-safe calls only: no allocation, no
// locks, no C++ library, no logging. Never returns.
//
// The gate, if there is one; then a new session, the word to the caretaker, default signal
// dispositions and an empty mask, SIGKILL when the helper dies, only the moved descriptors open
// across exec.
[[noreturn]] void child_main(const ChildSpec& spec) noexcept;

// The same in the shape clone(2) calls: `spec` points to a ChildSpec.
int child_entry(void* spec) noexcept;

}  // namespace loom::host
