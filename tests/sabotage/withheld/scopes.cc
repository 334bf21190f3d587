#include <sys/syscall.h>

#include <cstdint>

#include "syscall_words.h"

// Landlock is asked for no scope: neither abstract sockets nor signals are kept inside.

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number != SYS_landlock_create_ruleset) return __real_syscall(number, a, b, c, d, e, f);
  // Handled rights of files, of the network, and the scopes (struct landlock_ruleset_attr).
  const auto* const asked = reinterpret_cast<const std::uint64_t*>(a);
  const std::uint64_t unscoped[3] = {asked[0], asked[1], 0};
  return __real_syscall(number, reinterpret_cast<long>(unscoped), b, c, d, e, f);
}
