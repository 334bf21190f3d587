#include "probe.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "errno_text.h"

namespace loom::bwrap {
namespace {

// Debian 12's <linux/landlock.h> has it, older ones lack the header altogether.
constexpr unsigned kLandlockCreateRulesetVersion = 1;

void probe_landlock(KernelFacts& facts) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kLandlockCreateRulesetVersion);
  if (abi > 0) {
    facts.landlock_abi = static_cast<std::uint32_t>(abi);
  } else {
    facts.landlock_reason = errno_text(abi < 0 ? errno : ENOSYS);
  }
}

// A kernel that knows filters goes on to read the program, and there is none: EFAULT is the good
// answer.
void probe_seccomp(KernelFacts& facts) {
  const long answer = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr);
  const int error = answer < 0 ? errno : 0;
  facts.seccomp = error == EFAULT;
  if (!facts.seccomp) facts.seccomp_reason = errno_text(error);
}

}  // namespace

KernelFacts probe_kernel() {
  KernelFacts facts;
  probe_landlock(facts);
  probe_seccomp(facts);
  return facts;
}

Result<Bytes> probe(const ProbeRequest& request) {
  if (request.phase == ProbePhase::kBeforePlan && !request.facts.backend.empty()) {
    return request.facts.backend;
  }
  return encode(probe_kernel());
}

}  // namespace loom::bwrap
