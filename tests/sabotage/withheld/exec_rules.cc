#include "backends/bwrap/stage2/enter_exec_rules.h"
#include "wrapped.h"

// The rule set comes, and nobody enters it.

namespace loom::bwrap {

using Done = StepResult<void>;
Done real_entry(const Commit& commit, std::uint32_t landlock_abi, int control) LOOM_REAL;
Done stay_free(const Commit& commit, std::uint32_t landlock_abi, int control) LOOM_OURS;

[[gnu::used]] constexpr auto kReal = &real_entry;

Done stay_free(const Commit& commit, std::uint32_t, int control) {
  if (!commit.document.exec_rules) return {};
  return send_confined(control);
}

}  // namespace loom::bwrap
