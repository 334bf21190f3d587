#pragma once

#include <string>
#include <string_view>

namespace loom::law {

// What two spellings of one name have in common: NFD(casefold(uppercase(NFD(name)))), with full
// mappings and without a locale (docs/guard.md, "The law").
//
// `name` is one component of a path, in any encoding: bytes that are not valid UTF-8 are their own
// key. The key of a name that is no "." and no "..", not empty and without '/' and NUL is none of
// these and holds none of these. Only for comparing; no file has it as a name.
[[nodiscard]] std::string name_key(std::string_view name);

}  // namespace loom::law
