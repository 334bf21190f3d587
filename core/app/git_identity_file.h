#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/unique_fd.h>

#include <string>
#include <string_view>
#include <vector>

#include "identity/identity_refusal.h"

namespace loom::app {

// A directory that was reached from "/" one component at a time, none of them a link. Whatever
// happens to its name from then on, the handle stays the directory that was reached.
struct WalkedDirectory {
  UniqueFd handle;                     // O_PATH: good for names in it, not for listing it
  std::vector<FileIdentity> passed{};  // from "/" to the directory itself
};
[[nodiscard]] IdentityResult<WalkedDirectory> walk_to_directory(const AbsolutePath& path);

// What replaces what; both names are single components of one directory.
struct Replacement {
  const char* name;
  const char* temporary;
  std::string_view content;
};

// Writes the content under the temporary name, mode 0600 whatever the umask, and renames it over
// `name`: readers see the old file or the new one, whole. What stood under `name` is never opened;
// a link or a hard link is replaced as a name. The temporary name is gone after every failure.
// Nothing is promised about a power cut.
[[nodiscard]] IdentityResult<void> replace_file(int directory, const Replacement& file);

// ".gitconfig-" and 32 hex digits that nobody can guess.
[[nodiscard]] IdentityResult<std::string> make_temporary_name();

}  // namespace loom::app
