#pragma once

#include <loom/absolute_path.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

enum class NetworkMode : std::uint8_t { kOff, kProxy, kFull };

struct NetworkPolicy {
  NetworkMode mode = NetworkMode::kOff;
  std::vector<std::string> allow{};  // kProxy only: host globs, as written
  std::string proxy{};               // kProxy only: address, as written

  // Whether direct network is cut: off and proxy are jailed alike.
  [[nodiscard]] bool blocks_direct() const noexcept { return mode != NetworkMode::kFull; }
  friend bool operator==(const NetworkPolicy&, const NetworkPolicy&) = default;
};

// The document's 0 means "no limit of this kind" and became nullopt at the door.
struct Limits {
  std::optional<std::uint64_t> cpu_s{};         // seconds of CPU time
  std::optional<std::uint64_t> wall_s{};        // seconds until the stop ladder starts
  std::optional<std::uint64_t> mem_bytes{};     // whole jail
  std::optional<std::uint64_t> pids{};          // processes and threads, whole jail
  std::optional<std::uint64_t> fsize_bytes{};   // largest file the command may write
  std::optional<std::uint64_t> output_bytes{};  // forwarded bytes, per stream
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct ExplicitMount {
  AbsolutePath path;
  bool writable = false;
  bool required = false;  // an absent source refuses the execution; otherwise it is skipped
  friend bool operator==(const ExplicitMount&, const ExplicitMount&) = default;
};

// Where the command may litter.
struct Scratch {
  std::optional<AbsolutePath> host_path{};  // nullopt: a private temporary directory
  std::string written{};                    // host_path as the document spelled it; empty for tmpfs
  [[nodiscard]] bool is_tmpfs() const noexcept { return !host_path; }
  friend bool operator==(const Scratch&, const Scratch&) = default;
};

enum class ExecEntryKind : std::uint8_t { kDirectory, kFile, kName };
// "dir", "file" or "name", as the document spells it.
[[nodiscard]] std::string_view exec_entry_kind_name(ExecEntryKind kind) noexcept;

// One line of an exec table.
struct ExecEntry {
  ExecEntryKind kind = ExecEntryKind::kFile;
  std::string value{};  // a clean absolute path below "/", or a bare name
  friend bool operator==(const ExecEntry&, const ExecEntry&) = default;
};

// What one author says about running programs (version 3, docs/policy.md "exec").
struct ExecPolicy {
  bool allow_by_default = false;  // default "allow"
  std::vector<ExecEntry> allow{};
  std::vector<ExecEntry> deny{};
  bool system_support = true;  // support "system": linkers and interpreters of the system may start
  bool memfd_noexec = true;    // memfd "noexec"
  bool required = true;        // a table that cannot be enforced refuses the launch
  friend bool operator==(const ExecPolicy&, const ExecPolicy&) = default;
};

// A complete, checked sandbox policy (docs/policy.md). Lists keep the document's order; order has
// no meaning for enforcement. Paths are lexically clean; none holds a NUL.
struct Policy {
  std::uint32_t version = 2;
  std::vector<AbsolutePath> writable_roots{};
  std::vector<AbsolutePath> readable_roots{};
  std::vector<AbsolutePath> protected_paths{};
  NetworkPolicy network{};
  Limits limits{};
  std::vector<std::string> env_allow{};
  Scratch scratch{};
  std::vector<ExplicitMount> mounts{};
  std::optional<ExecPolicy> exec{};  // nullopt: no opinion; always so in version 2
  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace loom
