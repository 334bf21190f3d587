#include <asm/prctl.h>
#include <elf.h>
#include <sys/syscall.h>

#include <array>
#include <cstdint>

#include "bare/memory.h"
#include "main.h"

// The program's first instructions: the kernel passes everything on the stack (System V ABI,
// AMD64 3.4.1).
asm(R"(
  .text
  .globl _start
  .type _start, @function
_start:
  xorl %ebp, %ebp
  movq %rsp, %rdi
  andq $-16, %rsp
  call loom_stage2_start
  hlt
)");

namespace {

// What the compiler expects behind %fs: its own address first, the stack protector's secret at
// 0x28.
constexpr std::size_t kSelf = 0;
constexpr std::size_t kSecret = 5;
alignas(16) std::array<std::uintptr_t, 8> thread_block{};

// The 16 random bytes that the kernel gives every program. The lowest byte of the secret is zero,
// so that no overrunning text can carry it.
__attribute__((no_stack_protector)) std::uintptr_t stack_secret(
    const std::uintptr_t* stack) noexcept {
  const std::uintptr_t* at = stack + 1 + stack[0] + 1;  // argc, argv and its null
  while (*at != 0) ++at;                                // the environment
  for (++at; at[0] != AT_NULL; at += 2) {
    if (at[0] != AT_RANDOM) continue;
    // The kernel's vector carries the address as a number.
    const auto* const bytes = reinterpret_cast<const std::uintptr_t*>(at[1]);
    return *bytes & ~std::uintptr_t{0xff};
  }
  return 0;
}

}  // namespace

extern "C" [[noreturn, gnu::used]] __attribute__((no_stack_protector)) void loom_stage2_start(
    const std::uintptr_t* stack) noexcept {
  thread_block[kSelf] = reinterpret_cast<std::uintptr_t>(thread_block.data());
  thread_block[kSecret] = stack_secret(stack);
  // In place: a function that the stack protector guards reads the secret.
  long result = SYS_arch_prctl;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(long{ARCH_SET_FS}), "S"(thread_block.data())
               : "rcx", "r11", "memory");
  loom::bwrap::provide_memory();
  loom::bwrap::run_stage2();
}
