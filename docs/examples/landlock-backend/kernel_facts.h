#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string>

namespace landlock {

// What the probe found out about the kernel; travels as loom::HostFacts::backend.
struct KernelFacts {
  std::uint32_t abi = 0;  // of Landlock; 0: there is none here, and `no_landlock` says why
  std::string no_landlock{};
  bool seccomp = false;  // filters can be installed; if not, `no_seccomp` says why
  std::string no_seccomp{};
  friend bool operator==(const KernelFacts&, const KernelFacts&) = default;
};

[[nodiscard]] loom::Bytes encode(const KernelFacts& facts);
// No bytes at all mean that nobody probed: nothing is there, and the reasons say so.
[[nodiscard]] loom::Result<KernelFacts> decode_kernel_facts(loom::ByteView bytes);

// Asks the kernel. Changes nothing, and may be asked at any time.
[[nodiscard]] KernelFacts probe_kernel();

}  // namespace landlock
