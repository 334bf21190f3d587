#pragma once

#include <loom/absolute_path.h>

#include <ctime>
#include <optional>

namespace loom::host {

// No file that is made from now on has an earlier birth: files are dated by a clock that stands
// still for some milliseconds at a time.
[[nodiscard]] timespec earliest_birth_from_now() noexcept;
// No file that was made until now has a later one: since Linux 6.13 some are dated by a finer
// clock.
[[nodiscard]] timespec latest_birth_until_now() noexcept;

// Removes what a launcher left on the host where a file vanished that it was about to mask.
// bubblewrap makes the mount point that it does not find, and leaves it: an empty file of mode 0444
// exactly (utils.c, ensure_file; its umask is 0). Only such a file is removed, and only if it is
// our user's, has this name alone and was born at `since` or later, and not after `until`, when the
// launcher had mounted everything; nullopt: it never had. Where the file system tells no birth, the
// last change counts, and nothing is removed once there is an `until`. False when nothing was.
//
// Security: the name is somebody else's too. What was put there meanwhile gets its name back.
bool remove_mount_point_file(const AbsolutePath& path, const timespec& since,
                             const std::optional<timespec>& until) noexcept;

}  // namespace loom::host
