#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>

namespace loom::host {

// Files and directories of the control-group file system, by directory handle. Links are not
// followed. Errors name the file and say errno's words; `sys_errno` holds the number. Private to
// the control-group sources and their tests.

// O_PATH. Fails also where it is no directory.
[[nodiscard]] Result<UniqueFd> open_control_directory(const std::string& path);
[[nodiscard]] Result<UniqueFd> open_control_directory_at(int parent, const std::string& name);

// The first `kMaxControlFileBytes` of a file: only the list of a group's processes can be longer.
inline constexpr std::size_t kMaxControlFileBytes = 1u << 20;
[[nodiscard]] Result<std::string> read_control_file(int directory, const char* name);

// One write: the kernel takes a value whole or not at all. Never creates a file.
[[nodiscard]] Result<void> write_control_file(int directory, const char* name,
                                              const std::string& text);

// Passes memory and pids on to what lies below the directory; nothing to do where both are on. The
// only write into what is the operator's.
inline constexpr const char* kSubtreeControl = "cgroup.subtree_control";
[[nodiscard]] Result<void> switch_controllers_on(int directory);

// Removes the directory `name` of `parent` and the directories below it, innermost first; never a
// file. True when it is gone, also when it was before; false while the kernel calls it busy: there
// is a process in it. Directories nested deeper, or more of them, than a run can be imagined to
// have made are an error.
inline constexpr int kMaxNestedGroups = 32;
inline constexpr int kMaxGroupsOfOne = 4'096;
[[nodiscard]] Result<bool> remove_control_directory(int parent, const std::string& name);

}  // namespace loom::host
