#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_facts.h"
#include "landlock_numbers.h"

namespace landlock {
namespace {

std::string error_text(int error) {
  const char* const words = ::strerrordesc_np(error);
  return words != nullptr ? words : "error " + std::to_string(error);
}

}  // namespace

KernelFacts probe_kernel() {
  KernelFacts facts;
  const long abi = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  if (abi > 0) {
    facts.abi = static_cast<std::uint32_t>(abi);
  } else {
    facts.no_landlock = error_text(abi < 0 ? errno : ENOSYS);
  }
  // A kernel that knows filters goes on to read the program, and there is none: EFAULT is the good
  // answer.
  const long answer = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr);
  const int error = answer < 0 ? errno : 0;
  facts.seccomp = error == EFAULT;
  if (!facts.seccomp) facts.no_seccomp = error_text(error);
  return facts;
}

}  // namespace landlock
