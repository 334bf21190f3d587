#pragma once

#include <cstdint>

// The kernel's numbers of Landlock (<linux/landlock.h>), in full: headers in use end earlier.
namespace landlock {

// Rights over files.
inline constexpr std::uint64_t kExecute = 1U << 0U;
inline constexpr std::uint64_t kWriteFile = 1U << 1U;
inline constexpr std::uint64_t kReadFile = 1U << 2U;
inline constexpr std::uint64_t kReadDirectory = 1U << 3U;
inline constexpr std::uint64_t kFirstRights = (1U << 13U) - 1;  // all of ABI 1
inline constexpr std::uint64_t kRefer = 1U << 13U;              // ABI 2
inline constexpr std::uint64_t kTruncate = 1U << 14U;           // ABI 3
inline constexpr std::uint64_t kDeviceIoctl = 1U << 15U;        // ABI 5

// The kernel refuses a rule that gives anything else to a file.
inline constexpr std::uint64_t kFileRights =
    kExecute | kWriteFile | kReadFile | kTruncate | kDeviceIoctl;

// Rights over TCP, ABI 4; scopes, ABI 6.
inline constexpr std::uint64_t kBindTcp = 1U << 0U;
inline constexpr std::uint64_t kConnectTcp = 1U << 1U;
inline constexpr std::uint64_t kScopeAbstractSocket = 1U << 0U;
inline constexpr std::uint64_t kScopeSignal = 1U << 1U;

// The first ABI of each.
inline constexpr std::uint32_t kReferAbi = 2;
inline constexpr std::uint32_t kTruncateAbi = 3;
inline constexpr std::uint32_t kTcpAbi = 4;
inline constexpr std::uint32_t kDeviceIoctlAbi = 5;
inline constexpr std::uint32_t kScopeAbi = 6;
inline constexpr std::uint32_t kLogAbi = 7;

// System calls, the same numbers everywhere.
inline constexpr long kCreateRuleset = 444;
inline constexpr long kAddRule = 445;
inline constexpr long kRestrictSelf = 446;
inline constexpr unsigned kAskVersion = 1;  // LANDLOCK_CREATE_RULESET_VERSION
inline constexpr int kPathBeneath = 1;      // LANDLOCK_RULE_PATH_BENEATH
// LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF
inline constexpr unsigned kDoNotLog = 1;

}  // namespace landlock
