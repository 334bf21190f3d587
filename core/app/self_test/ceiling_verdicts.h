#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

inline constexpr std::uint64_t kFloodCap = 65'536;       // output bytes
inline constexpr std::uint64_t kFileCeiling = 65'536;    // bytes
inline constexpr std::uint64_t kSmallMemory = 8u << 20;  // bytes a payload may well use
inline constexpr std::string_view kSmallOk = "SMALL-OK";
inline constexpr std::string_view kStarted = "started";
inline constexpr std::string_view kAllocated = "allocated";  // and a number of bytes

// A payload that starts many more processes than its ceiling and prints kStarted for each.
[[nodiscard]] ProbeVerdict judge_forks(const ProbeRun& run);

// What --probe-fork prints.
inline constexpr std::string_view kForkDenied = "fork-denied-eagain";
inline constexpr std::string_view kForkAllStarted = "fork-all-started";

// How many more processes than the account has now a run may have whose ceiling is the account's,
// so that a burst of kForkBurst is refused in part.
inline constexpr std::uint64_t kForkRoom = 32;
inline constexpr std::size_t kForkBurst = 64;

// --probe-fork under such a ceiling.
[[nodiscard]] ProbeVerdict judge_fork_burst(const ProbeRun& run);

// A payload that writes a mebibyte of zero bytes under a cap of kFloodCap.
[[nodiscard]] ProbeVerdict judge_flood(const ProbeRun& run);

// A payload that writes a small file and then becomes the writer of one above kFileCeiling.
struct FileCeilingEvidence {
  ProbeRun run;
  int signal_number = 0;  // SIGXFSZ on this machine
  std::optional<std::uint64_t> small_size;
  std::optional<std::uint64_t> large_size;
};
[[nodiscard]] ProbeVerdict judge_file_ceiling(const FileCeilingEvidence& seen);

// A payload that allocates kSmallMemory, says so, and then goes far beyond its ceiling.
[[nodiscard]] ProbeVerdict judge_memory(const ProbeRun& run);

}  // namespace loom::app
