#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace loom::law {

// What a table says about one subject. There are no ranks, no depths and no order of rules.
struct Evidence {
  bool allowed = false;   // some allowance holds the subject
  bool excluded = false;  // some exclusion does

  // Admitted exactly when only allowances speak: silence refuses, and so does an exclusion,
  // whatever allows beside it.
  [[nodiscard]] bool admits() const noexcept { return allowed && !excluded; }
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// Each side must allow, either may exclude. Goes down in the order "admits less".
[[nodiscard]] Evidence restrict(Evidence a, Evidence b) noexcept;
// Either side may allow, either may exclude. Goes up in the order "says more".
[[nodiscard]] Evidence extend(Evidence a, Evidence b) noexcept;

enum class Reason : std::uint8_t {
  kNotAllowed,             // nobody spoke
  kExcluded,               // only exclusions speak
  kExcludedOverAllowance,  // both do, and an allowance overrides no exclusion
  kNotAHostObject,         // the jail's own: scratch, /proc, /dev (of the file system dimension)
  kReadOnly,               // shown, but not for writing (likewise)
  kMountPoint,             // a region of the plan, which cannot be removed or renamed (likewise)
  kCrossesMounts,          // a rename or link from one region to another (likewise)
  kPinned,                 // a program the helper itself runs
  kWouldMoveExcluded,      // an excluded object below would get a name that no rule holds
};

// Nothing where `evidence` admits.
[[nodiscard]] std::optional<Reason> refusal_of(Evidence evidence) noexcept;

// As records spell them: "not_allowed", and "none", "for", "against" or "both".
[[nodiscard]] std::string_view reason_name(Reason reason) noexcept;
[[nodiscard]] std::string_view evidence_name(Evidence evidence) noexcept;

}  // namespace loom::law
