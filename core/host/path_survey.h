#pragma once

#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <optional>
#include <string>

namespace loom::host {

// Looks at the paths of one survey. Keeps the last directory open, since many of them lie in the
// same; so it must not live longer than the survey.
class PathSurveyor {
 public:
  // As survey_path.
  [[nodiscard]] PathFact look(const AbsolutePath& path);

 private:
  struct Directory {
    AbsolutePath path = AbsolutePath::root();
    UniqueFd handle{};
    FileIdentity identity{};
  };
  [[nodiscard]] std::optional<PathFact> look_in_one_step(const AbsolutePath& path);
  [[nodiscard]] std::optional<PathFact> look_at_target(const AbsolutePath& path,
                                                       const std::string& target);
  [[nodiscard]] static std::optional<PathFact> look_in(Directory& parent, const AbsolutePath& path,
                                                       struct stat& about);
  [[nodiscard]] static int enter(Directory& directory, const AbsolutePath& path);

  Directory asked_;
  Directory targets_;  // of links, which would otherwise push the other one out
};

// Looks at one path: walks it component by component through O_PATH handles, follows links itself
// (40 at most) and never opens, reads or waits for what it finds. A failing step is a fact, not an
// error.
[[nodiscard]] PathFact survey_path(const AbsolutePath& path);

// Whether a path is a directory now, links followed.
[[nodiscard]] bool is_directory(const AbsolutePath& path) noexcept;

}  // namespace loom::host
