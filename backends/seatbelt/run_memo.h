#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loom::seatbelt {

// What a profile holds, as the report counts it.
struct Counts {
  std::uint64_t writable = 0;  // distinct writable regions, scratch and user directories included
  std::uint64_t protected_paths = 0;  // distinct spellings
  std::uint64_t bind_ro = 0;
  std::uint64_t bind_rw = 0;
  std::uint64_t exec_allow = 0;
  std::uint64_t exec_deny = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

// What plan leaves for render and audit: JailPlan::backend.
struct RunMemo {
  std::string profile{};
  std::vector<std::string> definitions{};  // "NAME=path"
  std::string stage2{};
  std::string cwd{};
  Bytes prepare{};  // encoded PrepareDocument
  Bytes commit{};   // encoded CommitDocument
  Counts counts{};
  bool private_scratch = false;
  bool shows_whole_host = false;
  bool cuts_network = false;
  bool confines_programs = false;
  bool denies_unix_sockets = false;
  bool lacks_fork_brake = false;  // a launch of version 3 for an account without such a limit
  // What mounts undid of the roots, as Audit::widened has it.
  std::vector<std::string> widened{};
  std::vector<std::string> remarks{};  // and the user's directories: complete entries
  friend bool operator==(const RunMemo&, const RunMemo&) = default;
};

[[nodiscard]] Bytes encode(const RunMemo& memo);
// Strict.
[[nodiscard]] Result<RunMemo> decode_run_memo(ByteView bytes);

}  // namespace loom::seatbelt
