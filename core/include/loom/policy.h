#pragma once

#include <loom/absolute_path.h>

#include <cstdint>
#include <optional>
#include <string>
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
  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace loom
