#pragma once

#include <cstdint>
#include <type_traits>

namespace loom::host {

enum class CaretakerVerb : std::uint32_t {
  kMake = 1,    // of the helper: names to make; answered
  kRegister,    // of a run's first process, before it executes; nobody answers
  kProcessOne,  // of the helper, with a pidfd of the jail's process 1; nobody answers
  kView,        // of the helper, with the jail's mount namespace; nobody answers
  kRelease,     // of the helper: the run has ended, its names may go; answered
  kScratch,     // of the helper: a directory to remove after the run, as plain text; answered
};

// The first bytes of every message to the caretaker; names follow in msgpack. A struct will do:
// both sides are the same build of one program. Nothing but plain data: a child between fork and
// exec sends one too.
struct CaretakerHead {
  CaretakerVerb verb;
  std::uint32_t more;  // kMake: 1 when the list goes on in the next message
  std::uint64_t run;   // numbered by the helper
  std::int64_t
      registered_ns;  // kRegister: CLOCK_BOOTTIME; no process that is born later can be the sender
};
static_assert(std::is_trivially_copyable_v<CaretakerHead>);
static_assert(std::has_unique_object_representations_v<CaretakerHead>);

// The first bytes of every answer. msgpack follows: the names' identities, in the order asked for;
// what could not be removed; or an error.
struct CaretakerAnswer {
  std::uint64_t run;
  std::uint32_t more;    // 1: the list goes on in the next message. Of a release, which has only
                         // one: the caretaker still tries to remove what somebody has locked
  std::uint32_t failed;  // 1: an error follows
};
static_assert(std::has_unique_object_representations_v<CaretakerAnswer>);

}  // namespace loom::host
