#include "law/table.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace loom::law {
namespace {

std::string_view real_of(const Allowance& rule) { return rule.real().str(); }

std::string_view real_of(const Exclusion& rule) {
  return rule.place() ? std::string_view(rule.place()->real.str()) : std::string_view();
}

// By origin first.
template <class Rule>
bool is_before(const Rule& a, const Rule& b) {
  const auto rank = [](const Rule& rule) {
    const Origin& origin = rule.origin();
    return std::tuple(origin.layer, origin.index, origin.kind, std::string_view(origin.written),
                      rule.scope(), real_of(rule));
  };
  return rank(a) < rank(b);
}

template <class Rule>
std::vector<Rule> as_set(std::vector<Rule> rules) {
  std::stable_sort(rules.begin(), rules.end(), is_before<Rule>);
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

template <class Rule>
std::vector<Rule> joined(const std::vector<Rule>& a, const std::vector<Rule>& b) {
  std::vector<Rule> rules = a;
  rules.insert(rules.end(), b.begin(), b.end());
  return rules;
}

}  // namespace

Table::Table(std::vector<Allowance> allowances, std::vector<Exclusion> exclusions)
    : allowances_(as_set(std::move(allowances))), exclusions_(as_set(std::move(exclusions))) {}

Table Table::no_opinion() { return make_table(Default::kAllow, {}, {}, Origin::kNobody); }

bool Table::allows(const Subject& subject) const noexcept {
  return std::any_of(allowances_.begin(), allowances_.end(),
                     [&](const Allowance& rule) { return rule.holds(subject); });
}

bool Table::excludes(const Subject& subject) const noexcept {
  return std::any_of(exclusions_.begin(), exclusions_.end(),
                     [&](const Exclusion& rule) { return rule.holds(subject).has_value(); });
}

Evidence Table::evidence(const Subject& subject) const noexcept {
  return {.allowed = allows(subject), .excluded = excludes(subject)};
}

bool Table::is_restrictive() const noexcept {
  // Not "has an allowance of kind any": the directory "/", which a link can lead to, is as wide.
  const auto is_everything = [](const Allowance& rule) {
    return rule.scope() != Scope::kFile && rule.real().is_root();
  };
  return !exclusions_.empty() ||
         std::none_of(allowances_.begin(), allowances_.end(), is_everything);
}

Table make_table(Default otherwise, std::vector<Allowance> allowances,
                 std::vector<Exclusion> exclusions, std::size_t layer) {
  if (otherwise == Default::kAllow) allowances.push_back(Allowance::any({.layer = layer}));
  return {std::move(allowances), std::move(exclusions)};
}

Table restrict(const Table& a, const Table& b) {
  std::vector<Allowance> kept;
  for (const Table* side : {&a, &b}) {
    for (const Allowance& rule : side->allowances()) {
      const Subject own = rule.own_subject();
      if (a.allows(own) && b.allows(own)) kept.push_back(rule);
    }
  }
  return {std::move(kept), joined(a.exclusions(), b.exclusions())};
}

Table extend(const Table& a, const Table& b) {
  return {joined(a.allowances(), b.allowances()), joined(a.exclusions(), b.exclusions())};
}

Table in_force(std::span<const Table> layers) {
  if (layers.empty()) return Table::no_opinion();
  Table folded = layers.front();
  for (const Table& layer : layers.subspan(1)) folded = restrict(folded, layer);
  return folded;
}

}  // namespace loom::law
