#include <sys/prctl.h>
#include <sys/syscall.h>

#include "syscall_words.h"

// No capability is given up, in none of the five sets.

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number == SYS_capset) return 0;
  return __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_prctl(int option, long a, long b, long c, long d) noexcept {
  const bool clears_ambient = option == PR_CAP_AMBIENT && a != PR_CAP_AMBIENT_IS_SET;
  if (clears_ambient || option == PR_CAPBSET_DROP || option == PR_SET_SECUREBITS) return 0;
  return __real_prctl(option, a, b, c, d);
}
