#pragma once

#include <string_view>
#include <vector>

#include "guard/guard.h"
#include "guard/linker_names.h"
#include "guard/program_file.h"
#include "law/subject.h"

namespace loom::guard {

// Whether a file came with the system, so that what it names may be trusted to start: the command
// can write neither it nor any directory on its real path nor a link that led there, and, unless
// the helper is root, neither can the helper's user, who owns none of them either. For root the
// file must lie in a system root (ShownView::floor).
[[nodiscard]] bool is_system_authored(const Guard& guard, const Landing& file);

// What an admitted program needs besides itself to start: the interpreters of a chain of scripts,
// the linker of the binary at its end, and, where the table restricts, the system's linkers, for
// what the program starts in turn.
//
// Refuses with interpreter_relative, interpreter_not_admitted, linker_not_admitted,
// support_excluded or too_many_interpreters. `argv0` is for the record.
[[nodiscard]] Judged<std::vector<law::Subject>> find_support(const Guard& guard,
                                                             std::string_view argv0,
                                                             const Landing& program,
                                                             const ProgramFile& file,
                                                             LinkerNames& linkers);

// Whether find_support would refuse, with the same record. Lists the system's linkers only where
// one of them decides: a linker that the system's authors wrote is admitted without.
[[nodiscard]] Judged<void> require_support(const Guard& guard, std::string_view argv0,
                                           const Landing& program, const ProgramFile& file,
                                           LinkerNames& linkers);

}  // namespace loom::guard
