#pragma once

#include <loom/features.h>
#include <loom/plan.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"
#include "guard/admission.h"
#include "guard/guard.h"
#include "guard/snapshot.h"

namespace loom::app {

// Where programs and the bare names of an exec table are looked for: directories that exist, by
// their real paths, none of which the command can write or choose under any name, or could under
// another policy that lets it write `grounds.written_before`. `requested` is the PATH that the
// caller asks for.
[[nodiscard]] guard::SearchPath search_path_of(std::string_view requested,
                                               std::string_view inherited, const Survey& survey,
                                               const guard::FreezeGrounds& grounds);

// What every jail shows for reading, as it is spelled.
[[nodiscard]] std::vector<AbsolutePath> floor_of(const Survey& survey);

// Where the host's mounts may show once more what the command can write, what is in `besides`, or
// what a table denies.
[[nodiscard]] Result<std::vector<MountFact>> mounts_to_freeze_by(
    Session& session, const Survey& survey, const std::vector<AbsolutePath>& besides,
    const ExecInForce& exec);

// What `plan` shows, with the regions that are there whatever a policy says. Borrows the
// plan and the mounts.
[[nodiscard]] guard::ShownView shown_view_of(const JailPlan& plan, const Survey& survey,
                                             const HostFacts& facts,
                                             const std::vector<MountFact>& mounts);

// Where the host's mounts may show once more what the snapshot excludes, protects or lets the
// command write.
[[nodiscard]] Result<std::vector<MountFact>> mounts_that_matter(Session& session,
                                                                const guard::Snapshot& snapshot);

// What the report says besides of the entries of a table: "exec-dropped=2", …
[[nodiscard]] std::vector<std::string> describe_entries(const guard::Guard& guard,
                                                        const guard::ShownView& shown);

}  // namespace loom::app
