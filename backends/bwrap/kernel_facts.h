#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string>

namespace loom::bwrap {

// What this backend's own probe found out about the kernel; travels as HostFacts::backend.
struct KernelFacts {
  std::uint32_t landlock_abi =
      0;  // the kernel's number; 0: not available, landlock_reason says why
  std::string landlock_reason;
  bool seccomp = false;  // filters can be installed; if not, seccomp_reason says why
  std::string seccomp_reason;
  friend bool operator==(const KernelFacts&, const KernelFacts&) = default;
};

[[nodiscard]] Bytes encode(const KernelFacts& facts);

// No bytes at all mean that nobody probed: neither layer is available, and the reasons say so.
[[nodiscard]] Result<KernelFacts> decode_kernel_facts(ByteView bytes);

}  // namespace loom::bwrap
