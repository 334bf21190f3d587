#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <loom/bytes.h>

#include <array>
#include <cstdint>
#include <vector>

#include "backends/bwrap/deny_table.h"

namespace loom::bwrap::test {

// What the kernel would do with a call; kMalformed for a program that it would not take.
inline constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
inline constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | 1;     // EPERM
inline constexpr std::uint32_t kNoCall = SECCOMP_RET_ERRNO | 38;    // ENOSYS
inline constexpr std::uint32_t kNoAccess = SECCOMP_RET_ERRNO | 13;  // EACCES
inline constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
inline constexpr std::uint32_t kMalformed = 0xdead0000;

inline constexpr std::uint64_t kHighBits = 0xabcdef0000000000;

// An architecture and the kernel's own numbers on it, not those of this build's headers.
struct Machine {
  const char* name;
  std::uint32_t arch;
  int (*number_of)(std::string_view call);  // -1: it has no such call
};
extern const Machine kIntel;
extern const Machine kArm;
inline const std::array<const Machine*, 2> kMachines = {&kIntel, &kArm};

using Arguments = std::array<std::uint64_t, 6>;

// Runs one compiled filter.
class FilterSimulator {
 public:
  FilterSimulator(const FilterVariant& variant, const Machine& machine);

  [[nodiscard]] std::uint32_t judge(int number, const Arguments& arguments = {}) const;
  [[nodiscard]] std::uint32_t judge(const char* call, const Arguments& arguments = {}) const;
  [[nodiscard]] std::uint32_t judge_foreign(std::uint32_t arch, int number) const;
  [[nodiscard]] const std::vector<sock_filter>& program() const { return program_; }

 private:
  const Machine* machine_;
  std::vector<sock_filter> program_;
};

}  // namespace loom::bwrap::test
