#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string>

namespace loom::bwrap {

// What trial launches of bubblewrap showed (guard 5.2). Until they were made, everything is assumed
// to work but mounts by handle.
struct LauncherFacts {
  bool tried = false;
  std::string broken;           // not empty: it builds no jail here, in its own words
  bool by_handle = false;       // --bind-fd and --ro-bind-fd; else every source is named
  std::string no_handles;       // why not
  std::string no_pids;          // I6, not empty: no pid namespace with a /proc of its own, and why
  std::string no_cgroup;        // I8, not empty: no cgroup namespace, and why
  std::string no_devices;       // I9, not empty: no --dev; made by hand from the host's, and why
  std::string no_network;       // P3, not empty: no network namespace, and why
  std::string no_cover;         // L14, not empty: the host stays in reach of mount points, and why
  std::string no_userns_ban;    // I7, not empty: no --disable-userns, and why; version 3 only
  std::string no_closed_masks;  // not empty: masks of directories can be listed, and why; version 3
  friend bool operator==(const LauncherFacts&, const LauncherFacts&) = default;
};

// What this backend's own probe found out about the kernel; travels as HostFacts::backend.
struct KernelFacts {
  std::uint32_t landlock_abi =
      0;  // the kernel's number; 0: not available, landlock_reason says why
  std::string landlock_reason;
  // The kernel's answer was not the one of a kernel without Landlock: something around the helper
  // refuses the question, and what holds here cannot be told.
  bool landlock_unclear = false;
  bool seccomp = false;  // filters can be installed; if not, seccomp_reason says why
  std::string seccomp_reason;
  LauncherFacts launcher{};
  friend bool operator==(const KernelFacts&, const KernelFacts&) = default;
};

[[nodiscard]] Bytes encode(const KernelFacts& facts);

// No bytes at all mean that nobody probed: neither layer is available, and the reasons say so.
[[nodiscard]] Result<KernelFacts> decode_kernel_facts(ByteView bytes);

}  // namespace loom::bwrap
