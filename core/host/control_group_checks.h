#pragma once

#include <loom/result.h>

#include <string>

#include "host/control_group_base.h"

namespace loom::host {

// The steps of detection, one line without the hint for the operator, or empty where nothing speaks
// against `directory`. Apart, because an ordinary directory that holds the right files passes the
// second and the third: a test can show them where nothing is delegated.

// statfs(2) must say cgroup2.
[[nodiscard]] std::string file_system_objection(const std::string& directory);

// cgroup.controllers must name what ceilings need; kept apart from the rest because the hierarchy's
// root is asked only this.
[[nodiscard]] std::string controllers_objection(const std::string& directory);

// The controllers, no process of its own (the root is exempt from that rule of the kernel's), and a
// directory can be made in it. Makes one of a unique name, loom-exec-probe-…, and removes it.
[[nodiscard]] std::string interface_objection(const std::string& directory, bool is_root);

// Our own group as a path below the hierarchy's root, "" for the root itself, from a file like
// /proc/self/cgroup.
[[nodiscard]] Result<std::string> read_own_control_group(const std::string& file);

// Whether a child of ours may be moved into a group below `base`: the kernel asks for write access
// to cgroup.procs of the deepest group above both ends of the move ("Delegation Containment").
// No objection where our own group cannot be found below the mount point: entering will tell.
[[nodiscard]] std::string reach_objection(const std::string& base,
                                          const ControlGroupPlaces& places);

}  // namespace loom::host
