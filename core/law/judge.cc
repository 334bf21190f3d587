#include "law/judge.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace loom::law {
namespace {

std::size_t depth_of(const Allowance& rule) {
  if (rule.real().is_root()) return 0;
  const std::string& text = rule.real().str();
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
}

std::optional<DecidingRule> deepest_allowance(const Table& table, const Subject& subject) {
  const Allowance* deepest = nullptr;
  for (const Allowance& rule : table.allowances()) {
    if (!rule.holds(subject)) continue;
    // Sorted by origin: of equals the first stays, and what nobody wrote comes last.
    if (deepest == nullptr || depth_of(rule) > depth_of(*deepest)) deepest = &rule;
  }
  if (deepest == nullptr) return std::nullopt;
  DecidingRule rule{.scope = deepest->scope(), .origin = deepest->origin()};
  if (rule.scope != Scope::kAny) rule.real = deepest->real();
  return rule;
}

// Entries, not rules: one entry may hold through several of its rules.
std::size_t count_entries(std::span<const Exclusion> exclusions, const Subject& subject) {
  std::set<std::pair<std::size_t, std::size_t>> entries;
  for (const Exclusion& rule : exclusions) {
    if (rule.holds(subject)) entries.emplace(rule.origin().layer, rule.origin().index);
  }
  return entries.size();
}

}  // namespace

std::optional<DecidingRule> deciding_exclusion(std::span<const Exclusion> exclusions,
                                               const Subject& subject) {
  const Exclusion* first = nullptr;
  Match match = Match::kStored;
  for (const Exclusion& rule : exclusions) {
    const std::optional<Match> held = rule.holds(subject);
    if (!held) continue;
    const auto rank = [](Match how, const Exclusion& of) {
      return std::tuple(how, of.origin().layer, of.origin().index);
    };
    if (first == nullptr || rank(*held, rule) < rank(match, *first)) {
      first = &rule;
      match = *held;
    }
  }
  if (first == nullptr) return std::nullopt;
  DecidingRule rule{.scope = first->scope(), .origin = first->origin(), .match = match};
  if (first->place()) rule.real = first->place()->real;
  return rule;
}

Verdict judge(const Table& table, const Subject& subject) {
  Verdict verdict{.evidence = table.evidence(subject)};
  verdict.refusal = refusal_of(verdict.evidence);
  std::optional<DecidingRule> allowance = deepest_allowance(table, subject);
  if (!verdict.evidence.excluded) {
    verdict.rule = std::move(allowance);
    return verdict;
  }
  verdict.rule = deciding_exclusion(table.exclusions(), subject);
  verdict.overridden = std::move(allowance);
  verdict.others = count_entries(table.exclusions(), subject) - 1;
  return verdict;
}

}  // namespace loom::law
