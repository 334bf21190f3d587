#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <string>

namespace loom::host {

// What load_backend does in each system's way.

// kBackend unless the library is one of this system's and exports the entry, before anything of it
// runs.
[[nodiscard]] Result<void> require_entry_symbol(int library);

// What is mapped instead of the original so that nobody can rewrite the code that runs here: a
// sealed copy. Where there is no such thing it is the original, whose owner and mode were looked
// at.
[[nodiscard]] Result<UniqueFd> unwritable_image(UniqueFd original, std::size_t max_bytes);

// The name that leads the dynamic linker to `image`; `file` is where the original lies.
[[nodiscard]] std::string name_to_map(int image, const std::string& file);

// kDenied unless `name` leads to `image`. Asked before and after the mapping: where the linker
// opens the original by its own name, somebody may exchange it in between.
[[nodiscard]] Result<void> require_image(int image, const std::string& name);

}  // namespace loom::host
