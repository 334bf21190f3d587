#pragma once

#include <loom/result.h>

#include <string>
#include <vector>

namespace loom::host {

// Where detection looks; a test may point elsewhere.
struct ControlGroupPlaces {
  std::string mount = "/sys/fs/cgroup";
  std::string own = "/proc/self/cgroup";
};

// The directory below which runs get their groups. Exactly one of the two is empty.
struct ControlGroupBase {
  std::string path;    // absolute, links resolved, no slash at the end
  std::string reason;  // why there is none: one line, with the hint for the operator
};

// Looks whether memory and process ceilings can be set on this machine (docs/jail.md). `configured`
// is the operator's --cgroup-base or LOOM_CGROUP_BASE; empty: the helper's own group, which works
// where that is the hierarchy's root and hardly anywhere else.
//
// Writes no configuration: makes one directory of a unique name and removes it again.
[[nodiscard]] ControlGroupBase detect_control_group_base(const std::string& configured,
                                                         const ControlGroupPlaces& places = {});

struct Swept {
  int removed = 0;
  std::vector<std::string> problems;  // one for each group that could not be removed, by name
};

// Removes the groups that helpers which are gone left below `base`: named exec-<id>-<pid>, no such
// process, not populated. Nothing else is touched, and no file. Fails when `base` cannot be read.
//
// A number that is another process's by now costs one directory until a later sweep.
[[nodiscard]] Result<Swept> sweep_control_groups(const std::string& base);

}  // namespace loom::host
