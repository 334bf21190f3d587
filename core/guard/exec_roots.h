#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/plan.h>

#include <vector>

#include "guard/guard.h"
#include "law/kernel_table.h"

namespace loom::guard {

// Where a lowering begins: an object that the jail shows, and in which something may be admitted.
struct ExecRoot {
  AbsolutePath real;
  FileIdentity frozen{};      // what must be there; zero: whatever is
  bool optional = false;      // a bind that does without what is not there
  bool allowance = false;     // a directory that an allowance names
  bool named_inside = false;  // it lies in one, or is one
  // The jail shows it under another name too, where no rule above it holds.
  bool other_name = false;
};

// Sorted by path, each once. With everything allowed: whatever the view binds from the host. Else:
// the directories that are allowed at their own place, and what the view binds from inside them. A
// rule on a directory is worth nothing where the jail does not show that directory itself.
[[nodiscard]] Judged<std::vector<ExecRoot>> exec_roots(const law::KernelTable& table,
                                                       const std::vector<MountOperation>& view,
                                                       const std::vector<ExecRule>& frozen);

// Whether the view binds what the operation shows from the host.
[[nodiscard]] bool binds_from_host(const MountOperation& operation) noexcept;

}  // namespace loom::guard
