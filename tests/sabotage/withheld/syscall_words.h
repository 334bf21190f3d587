#pragma once

// syscall(2) as the kernel sees it: six words, of which a caller that has fewer leaves the rest
// open.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
long __real_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;
int __real_prctl(int option, long a, long b, long c, long d) noexcept;
int __wrap_prctl(int option, long a, long b, long c, long d) noexcept;
// NOLINTEND(bugprone-reserved-identifier)
}
