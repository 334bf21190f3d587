#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::host {

// What changes when somebody writes to a file, or links, unlinks or renames it.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // mtime
  std::int64_t changed_ns = 0;   // ctime
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// A program chosen once and executed by handle from then on, or, on a system that executes nothing
// by handle, by its path (program_handle.h). Without a handle, fact.present is false and
// fact.reason says why.
struct PinnedProgram {
  PieceFact fact;
  UniqueFd handle;     // launcher: the file; stage 2: a sealed executable copy, where there is such
  FileStamp stamp;     // of the file, when it was opened or last found to be the same
  std::string digest;  // SHA-256 of its contents then, once it was taken; empty: not, or unreadable
  bool sealed = false;  // nobody can write to it
};

// The launcher: an absolute path as it is, or a name looked up in `search_path` (colon separated;
// relative entries and entries inside `excluded`, links resolved, are skipped and named in the
// reason).
[[nodiscard]] PinnedProgram pin_launcher(const std::string& name, std::string_view search_path,
                                         const std::vector<AbsolutePath>& excluded);

// Stage 2, still by the handle of its file: enough to say whether it is there. A file that somebody
// else owns or may write to counts as absent, as it does for a backend.
[[nodiscard]] PinnedProgram find_stage2(const std::string& file);
// In the first of these directories that has such a name at all: one that may not be used does not
// make way for another of the same name. Where none has it, the reason is about the first.
[[nodiscard]] PinnedProgram find_stage2(const std::vector<std::string>& directories,
                                        const std::string& name);
// Exchanges the handle for a sealed copy, which nobody can rewrite. Before the first command runs.
// Where executable memory files are forbidden, or there are none, the file itself stays. After an
// error the handle is as it was, and a later try may succeed.
[[nodiscard]] Result<void> seal_stage2(PinnedProgram& program);

// Takes the digest, unless the program is sealed or absent, cannot be read (mode 4711), or changed
// since it was opened; then there is none, and from there on every change is a refusal.
void take_digest(PinnedProgram& program);

// Before each launch: whether the file behind the handle is still what was pinned. Costs one fstat
// as long as its stamp is the same. A changed stamp over the same contents (a new link, a package
// that was installed again) is remembered; anything else is kDenied, "pin_changed: …", naming the
// file. Detects a rewrite, and undoes none.
[[nodiscard]] Result<void> check_pin(PinnedProgram& program);

// Whether this process's user may rewrite the file, or could allow himself to. Never asked for the
// superuser, who may rewrite everything.
[[nodiscard]] bool is_ours_to_write(const PinnedProgram& program);

}  // namespace loom::host
