#pragma once

#include <cstdint>

namespace loom::bwrap {

// The kernel's ABI of Landlock, in full: the header of Debian 12 stops at ABI 2. Each call answers
// -1 and errno.

inline constexpr std::uint64_t kLandlockExecute = 1U << 0U;
inline constexpr std::uint64_t kLandlockWriteFile = 1U << 1U;
inline constexpr std::uint64_t kLandlockReadFile = 1U << 2U;
inline constexpr std::uint64_t kLandlockRefer = 1U << 13U;  // ABI 2
inline constexpr std::uint64_t kLandlockTruncate = 1U << 14U;
inline constexpr std::uint64_t kLandlockIoctlDevice = 1U << 15U;

inline constexpr std::uint32_t kLandlockReferAbi = 2;
inline constexpr std::uint32_t kLandlockLogAbi = 7;  // kernel 6.15; before it nothing is logged

// LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF
inline constexpr std::uint32_t kLandlockDoNotLog = 1U << 0U;

// The kernel's number, at least 1. A kernel without Landlock says ENOSYS or EOPNOTSUPP.
[[nodiscard]] int landlock_abi() noexcept;
// A descriptor, close-on-exec.
[[nodiscard]] int create_rule_set(std::uint64_t handled_fs, std::uint64_t scoped) noexcept;
// `beneath` is an O_PATH descriptor; what is not a directory takes the rights of a file only.
[[nodiscard]] int add_path_rule(int rule_set, int beneath, std::uint64_t access) noexcept;
[[nodiscard]] int restrict_self(int rule_set, std::uint32_t flags) noexcept;

}  // namespace loom::bwrap
