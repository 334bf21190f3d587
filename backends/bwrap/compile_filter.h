#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <string_view>

#include "deny_table.h"

namespace loom::bwrap {

// The rows of the deny table that are in force for `variant`, as an array of struct sock_filter in
// native byte order. Everything else is allowed. `machine` as uname -m; kUnsupported names one that
// no program can be made for. A program for another machine than the one this runs on lacks the
// calls that libseccomp has no name for.
[[nodiscard]] Result<Bytes> compile_filter(const FilterVariant& variant, std::string_view machine);

// Whether a program can be made for `machine` at all, without making one: kUnsupported as above.
[[nodiscard]] Result<void> require_filterable(std::string_view machine);

// compile_filter, made once per process.
[[nodiscard]] Result<Bytes> remembered_filter(const FilterVariant& variant,
                                              std::string_view machine);

}  // namespace loom::bwrap
