#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run_memo.h"
#include "stage2/prepare_document.h"

namespace loom::bwrap {

// Rights of <linux/landlock.h>; Debian 12's header ends at REFER.
inline constexpr std::uint64_t kExecute = 1U << 0U;
inline constexpr std::uint64_t kWriteFile = 1U << 1U;
inline constexpr std::uint64_t kReadFile = 1U << 2U;
inline constexpr std::uint64_t kReadDirectory = 1U << 3U;
inline constexpr std::uint64_t kFirstRights = (1U << 13U) - 1;   // all of ABI 1: bits 0 to 12
inline constexpr std::uint64_t kRefer = 1U << 13U;               // ABI 2
inline constexpr std::uint64_t kTruncate = 1U << 14U;            // ABI 3
inline constexpr std::uint64_t kDeviceIoctl = 1U << 15U;         // ABI 5
inline constexpr std::uint64_t kScopeAbstractSocket = 1U << 0U;  // ABI 6
inline constexpr std::uint64_t kScopeSignal = 1U << 1U;          // ABI 6

// The first ABI of each.
inline constexpr std::uint32_t kReferAbi = 2;
inline constexpr std::uint32_t kTruncateAbi = 3;
inline constexpr std::uint32_t kDeviceIoctlAbi = 5;
inline constexpr std::uint32_t kScopeAbi = 6;

// Looking and running: what every path gets.
inline constexpr std::uint64_t kReadOnly = kExecute | kReadFile | kReadDirectory;
// Everything, renaming and linking between directories and device ioctls included.
inline constexpr std::uint64_t kReadWrite = kFirstRights | kRefer | kTruncate | kDeviceIoctl;

// What the rules open, before any of it is looked up.
struct LandlockView {
  std::vector<std::string> readable;
  std::vector<std::string> writable;  // writable roots, then mounts that were bound read-write
  std::vector<LandlockRule> devices;
  std::optional<std::string> scratch;
};

// What a policy opens. A tmpfs scratch counts only where it is really mounted: without bubblewrap
// /tmp is the account's own.
[[nodiscard]] LandlockView landlock_view(const RunMemo& memo);

// The rights that a kernel of this ABI can handle.
[[nodiscard]] std::uint64_t handled_rights(std::uint32_t abi) noexcept;
[[nodiscard]] std::uint64_t handled_scopes(std::uint32_t abi) noexcept;

// The rules in order: "/", readable, writable, devices, scratch; rights that the kernel lacks
// removed.
[[nodiscard]] std::vector<LandlockRule> landlock_rules(const LandlockView& view, std::uint32_t abi);

}  // namespace loom::bwrap
