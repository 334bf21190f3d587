#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string_view>

namespace loom::bwrap {

// Which address families socket and socketpair admit; everything else is EPERM.
enum class SocketFilter : std::uint8_t {
  kUnixOnly,       // AF_UNIX: direct network is cut
  kUsualFamilies,  // all but AF_ALG, AF_VSOCK, AF_XDP, AF_TIPC and AF_PACKET
};

// The program as an array of struct sock_filter in native byte order. Judges the low 32 bits of the
// family only, as the kernel does. A call of a foreign architecture, or on x86-64 an x32 number,
// kills the process. `machine` as uname -m; kUnsupported names one that no program can be made for.
[[nodiscard]] Result<Bytes> compile_filter(SocketFilter filter, std::string_view machine);

// The same, made once per process.
[[nodiscard]] Result<Bytes> socket_filter(SocketFilter filter, std::string_view machine);

}  // namespace loom::bwrap
