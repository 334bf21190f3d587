#pragma once

#include <loom/absolute_path.h>

#include <array>
#include <string_view>

namespace landlock {

// What every command gets to see besides what the policy lists. A missing one costs nothing.
inline constexpr std::array<std::string_view, 15> kSystemRoots = {"/usr",
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
                                                                  "/nix/store",
                                                                  "/proc"};

// The devices that a command may use. No terminals: those of the host's belong to others too.
inline constexpr std::array<std::string_view, 6> kDevices = {
    "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"};

// What no policy may open beyond that. A rule for one of them, or for what holds them, would open
// all that is in it, and no other rule could close it again.
inline constexpr std::array<std::string_view, 2> kClosedPlaces = {"/dev", "/proc"};

// Where the host makes a private scratch.
inline constexpr std::string_view kScratchParent = "/tmp";
inline constexpr std::string_view kScratchPrefix = "loom-";

// A path that is known to be sound.
[[nodiscard]] loom::AbsolutePath known_path(std::string_view text);

}  // namespace landlock
