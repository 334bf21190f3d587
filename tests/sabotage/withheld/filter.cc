#include <sys/syscall.h>

#include "syscall_words.h"

// The system-call filter is not installed.

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number == SYS_seccomp) return 0;
  return __real_syscall(number, a, b, c, d, e, f);
}
