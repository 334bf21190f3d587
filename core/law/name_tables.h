#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loom::law {

// What one code point becomes: `count` of NameTables::targets, from `first`.
struct NameMapping {
  char32_t from;
  std::uint16_t first;
  std::uint16_t count;
};

struct CombiningClass {
  char32_t mark;
  std::uint8_t value;  // never 0
};

// What folding a name needs of the Unicode Character Database. Each list is sorted by its code
// point, and a code point that is not in it stays as it is.
struct NameTables {
  std::string_view version;                    // of the database: "15.0.0"
  std::span<const NameMapping> uppercase;      // full, without a locale
  std::span<const NameMapping> casefold;       // full: statuses C and F
  std::span<const NameMapping> decomposition;  // canonical, to the end; Hangul is computed
  std::span<const CombiningClass> combining;
  std::span<const char32_t> targets;
};

// In the source that make_name_tables.cc writes.
extern const NameTables kNameTables;

}  // namespace loom::law
