#include "guard/exec_spines.h"
#include "wrapped.h"

// A reason, or two, to list a directory never holds: it is told to the kernel whole, with what is
// excluded in it.

namespace loom::guard {

bool real_reason(const ExecSpines& spines, const law::Subject& directory) noexcept LOOM_REAL;
bool no_reason(const ExecSpines& spines, const law::Subject& directory) noexcept LOOM_OURS;

[[gnu::used]] constexpr auto kReal = &real_reason;

bool no_reason(const ExecSpines&, const law::Subject&) noexcept { return false; }

#ifdef LOOM_WRAPPED_SECOND
bool other_real(const ExecSpines& spines, const law::Subject& directory) noexcept LOOM_SECOND_REAL;
bool none_either(const ExecSpines& spines, const law::Subject& directory) noexcept LOOM_SECOND_OURS;

[[gnu::used]] constexpr auto kOtherReal = &other_real;

bool none_either(const ExecSpines&, const law::Subject&) noexcept { return false; }
#endif

}  // namespace loom::guard
