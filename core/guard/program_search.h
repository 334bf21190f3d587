#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "guard/guard.h"

namespace loom::guard {

// Why the kernel runs no such object for this user, for people ("is a directory"); nullopt: as far
// as kind, permission and mount go it does.
[[nodiscard]] std::optional<std::string> why_not_runnable(const Landing& landing);

// The file that argv[0] denotes: an object that why_not_runnable has nothing against. With a '/' in
// it, argv[0] is joined to `cwd` and walked; a bare name is looked for along the snapshot's search
// path, past directories that the command can write and past files that cannot be run.
//
// Refuses with not_found, not_executable or the walk's own reason. None of these asks the policy.
[[nodiscard]] Judged<Landing> find_program(const Guard& guard, std::string_view argv0,
                                           std::string_view cwd);

}  // namespace loom::guard
