#pragma once

#include <loom/absolute_path.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "law/evidence.h"
#include "law/rule.h"
#include "law/subject.h"
#include "law/table.h"

namespace loom::law {

// A rule that decided, as a record names it.
struct DecidingRule {
  Scope scope = Scope::kAny;
  std::optional<AbsolutePath> real{};  // nothing for a name and for everything
  Origin origin{};
  Match match = Match::kStored;  // always for an allowance
  friend bool operator==(const DecidingRule&, const DecidingRule&) = default;
};

// The answer about one subject, with whatever decided it.
struct Verdict {
  Evidence evidence{};
  std::optional<Reason> refusal{};           // nothing: admitted
  std::optional<DecidingRule> rule{};        // the exclusion; for an admission, the allowance
  std::optional<DecidingRule> overridden{};  // the allowance that the exclusion beats
  std::size_t others = 0;                    // further entries that exclude the subject

  [[nodiscard]] bool admitted() const noexcept { return !refusal; }
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// Judges by the evidence. Of several exclusions, one that holds as stored is named before one that
// holds folded, that before one by object; then the lower layer, the lower index. Of several
// allowances, the deepest.
[[nodiscard]] Verdict judge(const Table& table, const Subject& subject);

// The exclusion to name, as above; nothing if none holds.
[[nodiscard]] std::optional<DecidingRule> deciding_exclusion(std::span<const Exclusion> exclusions,
                                                             const Subject& subject);

// The verdict about running `subject` as one sentence for people, valid UTF-8: path, rules as
// written, and, where somebody may expect otherwise, why they do not help.
[[nodiscard]] std::string describe(const Verdict& verdict, const Subject& subject);

}  // namespace loom::law
