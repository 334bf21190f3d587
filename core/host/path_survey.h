#pragma once

#include <loom/facts.h>

namespace loom::host {

// Looks at one path: walks it component by component through O_PATH handles, follows links itself
// (40 at most) and never opens, reads or waits for what it finds. A failing step is a fact, not an
// error.
[[nodiscard]] PathFact survey_path(const AbsolutePath& path);

// Whether a path is a directory now, links followed.
[[nodiscard]] bool is_directory(const AbsolutePath& path) noexcept;

}  // namespace loom::host
