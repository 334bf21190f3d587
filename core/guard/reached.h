#pragma once

#include <loom/absolute_path.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <optional>

#include "guard/walk_error.h"
#include "law/subject.h"

namespace loom::guard {

// An object with everything that the law asks about it.
struct Reached {
  law::Subject subject;  // the inside of a directory; a file, whatever else it is
  UniqueFd handle;       // nothing is read through it
  struct stat about {};
};

enum class LinksOnTheWay : bool { kRefused, kFollowed };

// Walks to what a path of a plan leads to now; nothing when nothing is there. Enters automounts.
[[nodiscard]] WalkResult<std::optional<Reached>> reach(const AbsolutePath& path,
                                                       LinksOnTheWay links);

// What `name` in a directory is, which `handle` was opened for.
[[nodiscard]] Reached reached_in(const law::Subject& directory, const char* name, UniqueFd handle,
                                 const struct stat& about);

}  // namespace loom::guard
