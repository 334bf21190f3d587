#include <sys/syscall.h>

#include "syscall_words.h"

// The rules are made and never put in force.

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number == SYS_landlock_restrict_self) return 0;
  return __real_syscall(number, a, b, c, d, e, f);
}
