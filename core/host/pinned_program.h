#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>
#include <string_view>
#include <vector>

namespace loom::host {

// A program chosen once and executed by handle from then on. Without a handle, fact.present is
// false and fact.reason says why.
struct PinnedProgram {
  PieceFact fact;
  UniqueFd handle;  // launcher: O_PATH of the file; stage 2: a sealed executable copy
};

// The launcher: an absolute path as it is, or a name looked up in `search_path` (colon separated;
// relative entries and entries inside `excluded`, links resolved, are skipped and named in the
// reason).
[[nodiscard]] PinnedProgram pin_launcher(const std::string& name, std::string_view search_path,
                                         const std::vector<AbsolutePath>& excluded);

// Stage 2, still by the handle of its file: enough to say whether it is there.
[[nodiscard]] PinnedProgram find_stage2(const std::string& file);
// Exchanges the handle for a sealed copy, which nobody can rewrite. Before the first command runs.
// Where executable memory files are forbidden the file itself stays, by handle. After an error the
// handle is as it was, and a later try may succeed.
[[nodiscard]] Result<void> seal_stage2(PinnedProgram& program);

}  // namespace loom::host
