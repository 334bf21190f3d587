#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "law/evidence.h"
#include "law/rule.h"
#include "law/subject.h"

namespace loom::law {

// What one author wrote about running programs, or several authors' layers folded into one: a set
// of allowances and a set of exclusions, whose order has no meaning. What no rule holds is refused
// by silence, and silence is never written down as an exclusion.
class Table {
 public:
  // Allows nothing and excludes nothing: `extend` changes nothing by it.
  Table() = default;
  Table(std::vector<Allowance> allowances, std::vector<Exclusion> exclusions);
  // What an absent table means: everything is allowed. `restrict` admits no less by it.
  [[nodiscard]] static Table no_opinion();

  [[nodiscard]] bool allows(const Subject& subject) const noexcept;
  [[nodiscard]] bool excludes(const Subject& subject) const noexcept;
  [[nodiscard]] Evidence evidence(const Subject& subject) const noexcept;

  // Whether anything is engaged for it: it has an exclusion, or does not allow everything. The one
  // predicate for the planner, the kernel's rules, reports and the scrub of loader variables.
  [[nodiscard]] bool is_restrictive() const noexcept;

  // Sorted by origin, each once.
  [[nodiscard]] const std::vector<Allowance>& allowances() const noexcept { return allowances_; }
  [[nodiscard]] const std::vector<Exclusion>& exclusions() const noexcept { return exclusions_; }
  friend bool operator==(const Table&, const Table&) = default;

 private:
  std::vector<Allowance> allowances_;
  std::vector<Exclusion> exclusions_;
};

enum class Default : std::uint8_t { kDeny, kAllow };

// A table as a document writes it; `layer` is where its default was written.
[[nodiscard]] Table make_table(Default otherwise, std::vector<Allowance> allowances,
                               std::vector<Exclusion> exclusions, std::size_t layer = 0);

// One table whose evidence on every subject is restrict() or extend() of both sides' evidence
// there. Rules keep their origins.
[[nodiscard]] Table restrict(const Table& a, const Table& b);
[[nodiscard]] Table extend(const Table& a, const Table& b);

// The table in force under all `layers`, each of which can only take away; no layers are no
// opinion.
[[nodiscard]] Table in_force(std::span<const Table> layers);

}  // namespace loom::law
