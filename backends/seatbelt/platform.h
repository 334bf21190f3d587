#pragma once

#include <loom/absolute_path.h>

#include <array>
#include <cstddef>
#include <string_view>

// What the platform is known by. A test installation exchanges the launcher, and where there is no
// /private/tmp the place of the scratches.
#ifndef LOOM_SEATBELT_LAUNCHER
#define LOOM_SEATBELT_LAUNCHER "/usr/bin/sandbox-exec"
#endif
#ifndef LOOM_SEATBELT_SCRATCH_PARENT
#define LOOM_SEATBELT_SCRATCH_PARENT "/private/tmp"
#endif

namespace loom::seatbelt {

// Never looked up on PATH.
inline constexpr std::string_view kLauncher = LOOM_SEATBELT_LAUNCHER;
inline constexpr const char* kStage2Name = "seatbelt-stage2";

// Security: not below the user's temporary directory, which every run may write: one run's scratch
// would be another's to change.
inline constexpr std::string_view kScratchParent = LOOM_SEATBELT_SCRATCH_PARENT;
inline constexpr std::string_view kScratchPrefix = "loom-exec-scratch-";

inline constexpr std::string_view kSystem = "/System";
// Lies in /System and is none of it: the data volume, which has more than firmlinks(5) lead to,
// and those of starting, swapping and updating.
inline constexpr std::string_view kVolumes = "/System/Volumes";

// What every jail can read. The names are part of the profile's text. Since macOS 13 the shared
// cache of libraries is in an image that is mounted on the volume of starting.
inline constexpr std::array<std::string_view, 11> kSystemView = {
    kSystem,
    "/System/Volumes/Preboot/Cryptexes",
    "/usr",
    "/bin",
    "/sbin",
    "/Library",
    "/private/etc",
    "/private/var/db",
    "/private/var/select",
    "/dev",
    "/opt/homebrew"};

// Translates programs of the other architecture; whatever runs may be one.
inline constexpr std::string_view kRuntimeDirectory = "/Library/Apple/usr";

inline constexpr std::string_view kNullDevice = "/dev/null";

// A profile of up to so many bytes travels as an argument, a longer one as a file.
inline constexpr std::size_t kMaxProfileArgument = 32'768;
// Of the launcher's arguments, pointers included. The kernel takes a mebibyte for arguments and
// environment together (ARG_MAX in macOS' sys/syslimits.h) and keeps some of that for itself.
inline constexpr std::size_t kMaxArgumentBytes = 900 * 1'024;

// A constant of ours as a path.
[[nodiscard]] AbsolutePath known_path(std::string_view text);

}  // namespace loom::seatbelt
