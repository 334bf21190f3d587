#pragma once

#include <array>
#include <string_view>

namespace loom::bwrap {

// What every jail shows of the host besides the policy's own regions, read-only, in declaration
// order. A missing one costs nothing. /bin, /sbin and /lib* are links on merged-usr hosts; /var/lib
// because one distribution keeps its trust store there; the /run entries because /etc/resolv.conf
// leads into one of them; the last two for NixOS.
inline constexpr std::array<std::string_view, 14> kSystemRoots = {"/usr",
                                                                  "/bin",
                                                                  "/sbin",
                                                                  "/lib",
                                                                  "/lib32",
                                                                  "/lib64",
                                                                  "/etc",
                                                                  "/opt",
                                                                  "/var/lib",
                                                                  "/run/systemd/resolve",
                                                                  "/run/resolvconf",
                                                                  "/run/NetworkManager",
                                                                  "/run/current-system",
                                                                  "/nix/store"};

// The roots that the jail always replaces with its own.
inline constexpr std::string_view kProcRoot = "/proc";
inline constexpr std::string_view kDevRoot = "/dev";
inline constexpr std::string_view kScratchRoot = "/tmp";  // of a tmpfs scratch

}  // namespace loom::bwrap
