#include "app/ceilings_in_reach.h"

#include <loom/utf8.h>
#include <unistd.h>

#include "app/session.h"
#include "host/mount_table.h"
#include "host/path_survey.h"

namespace loom::app {
namespace {

Result<std::vector<AbsolutePath>> control_group_trees() {
  LOOM_TRY(const host::MountTable table, host::MountTable::open(::getpid()));
  LOOM_TRY(const std::vector<std::string> points, table.mount_points_of_type("cgroup2"));
  std::vector<AbsolutePath> trees;
  for (const std::string& point : points) {
    LOOM_TRY(AbsolutePath path, AbsolutePath::parse(point));
    trees.push_back(std::move(path));
  }
  return trees;
}

}  // namespace

Result<void> refuse_ceilings_in_reach(const Policy& policy) {
  if (!policy.limits.mem_bytes && !policy.limits.pids) return {};
  LOOM_TRY(const std::vector<AbsolutePath> trees, control_group_trees());
  for (const AbsolutePath& region : writable_regions(policy)) {
    const AbsolutePath real = host::survey_path(region).real;
    for (const AbsolutePath& tree : trees) {
      if (!real.is_within(tree) && !tree.is_within(real)) continue;
      return fail(ErrorCode::kDenied,
                  "writable " + escaped(region.str()) + ": control groups at " +
                      escaped(tree.str()) +
                      " would be writable, so the command could lift mem_bytes and pids");
    }
  }
  return {};
}

}  // namespace loom::app
