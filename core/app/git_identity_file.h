#pragma once

#include <loom/absolute_path.h>

#include <string>
#include <string_view>

#include "guard/landing.h"
#include "identity/identity_refusal.h"

namespace loom::app {

// Walks to the file's place; no directory on the way may be a link. Whatever happens to its name
// from then on, the handle stays the directory that was reached. What stands in the file's place, a
// link too, is not followed or opened.
[[nodiscard]] IdentityResult<guard::Landing> walk_to_file(const AbsolutePath& file);

// Writes the content under the temporary name, mode 0600 whatever the umask, and renames it over
// the file: readers see the old file or the new one, whole. What stood there is never opened; a
// link or a hard link is replaced as a name. The temporary name is gone after every failure.
// Nothing is promised about the name after a power cut.
[[nodiscard]] IdentityResult<void> replace_file(const guard::Landing& file,
                                                const std::string& temporary,
                                                std::string_view content);

// ".gitconfig-" and 32 hex digits that nobody can guess.
[[nodiscard]] IdentityResult<std::string> make_temporary_name();

}  // namespace loom::app
