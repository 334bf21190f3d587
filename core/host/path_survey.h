#pragma once

#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/file_system.h"
#include "host/walk_tape.h"

namespace loom::host {

// Looks at the paths of one survey. Keeps the last directory open, since many of them lie in the
// same, and remembers every directory; so it must not live longer than the survey.
class PathSurveyor {
 public:
  // As survey_path.
  [[nodiscard]] PathFact look(const AbsolutePath& path);

  // Every existing directory above `real` of what was looked at, each once, sorted by path.
  [[nodiscard]] std::vector<DirectoryFact> directories();

  // All that was asked up to here, for whoever will want to know whether it still is so. The last
  // thing to ask for.
  [[nodiscard]] WalkTape take_tape() { return std::move(tape_); }

 private:
  // A directory that is open, and what was learned about it.
  struct Directory {
    WalkTape::Slot slot;
    AbsolutePath path = AbsolutePath::root();
    UniqueFd handle{};
    struct stat about {};
    bool placeholder = false;
    bool automount = false;  // what lies in it may become another when it is opened
    std::optional<guard::FileSystemKind> kind{};  // when it was needed
  };
  struct Known {
    std::optional<DirectoryFact> fact{};  // nullopt: none there, or not without a link on the way
    bool above = false;                   // `real` of something looked at lies in it
  };

  [[nodiscard]] std::optional<PathFact> look_in_one_step(const AbsolutePath& path);
  [[nodiscard]] std::optional<PathFact> look_at_target(const AbsolutePath& path,
                                                       const struct stat& link);
  [[nodiscard]] std::optional<PathFact> look_in(Directory& parent, const AbsolutePath& path,
                                                struct stat& about);
  [[nodiscard]] PathFact walk(const AbsolutePath& path);
  [[nodiscard]] int enter(Directory& directory, const AbsolutePath& path);
  [[nodiscard]] bool may_be_placeholder(const struct stat& about);
  [[nodiscard]] bool is_automount(const Directory& directory);
  [[nodiscard]] bool is_automount_in(const Directory& parent, const char* name,
                                     const struct stat& about);
  [[nodiscard]] bool may_be_automount(const struct stat& about) const;
  [[nodiscard]] bool is_automount(guard::FileSystemKind kind, dev_t device);
  void note(const AbsolutePath& real);
  [[nodiscard]] Known& find_directory(const AbsolutePath& path);

  WalkTape tape_;
  Directory asked_{WalkTape::Slot::kAsked};
  // Of links, which would otherwise push the other one out.
  Directory targets_{WalkTape::Slot::kTargets};
  std::vector<dev_t> ordinary_;        // devices without automount points
  std::vector<AbsolutePath> parents_;  // of what was looked at, links resolved
  std::map<AbsolutePath, Known> known_;
};

// Looks at one path of a policy: by names in directories that are reached without following a link,
// or, where a link is on the way, by the guard's walk (guard/freeze.h). Never opens, reads or waits
// for what it finds, an automounter excepted. A failing step is a fact, not an error.
[[nodiscard]] PathFact survey_path(const AbsolutePath& path);

}  // namespace loom::host
