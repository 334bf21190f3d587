#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "law/judge.h"
#include "law/rule.h"
#include "law/subject.h"
#include "law/table.h"

namespace loom::law {

inline AbsolutePath path(std::string_view text) { return AbsolutePath::parse(text).value(); }

inline Subject file(std::string_view real, Passage passage = {}) {
  return Subject::file(path(real), std::move(passage));
}
inline Subject inside(std::string_view directory, Passage passage = {}) {
  return Subject::inside(path(directory), std::move(passage));
}

// One entry of a table: "+dir /x", "-file /x/t", "-name sh".
struct Entry {
  std::string_view text;
  Place place = {.real =
                     AbsolutePath::root()};  // an exclusion's identities; its path is the text's
};

inline Place at(Place place, std::string_view written) {
  place.real = path(written);
  return place;
}

// X[…] of the specification's cases; `layer` counts from the base policy's 0.
inline Table table(Default otherwise, const std::vector<Entry>& entries, std::size_t layer = 0) {
  std::vector<Allowance> allowances;
  std::vector<Exclusion> exclusions;
  std::size_t allowed = 0;
  std::size_t denied = 0;
  for (const Entry& entry : entries) {
    const bool positive = entry.text.front() == '+';
    const std::size_t blank = entry.text.find(' ');
    const std::string_view kind = entry.text.substr(1, blank - 1);
    const std::string_view value = entry.text.substr(blank + 1);
    const Scope scope = kind == "dir"    ? Scope::kDirectory
                        : kind == "file" ? Scope::kFile
                                         : Scope::kName;
    const Origin origin{.layer = layer,
                        .index = positive ? allowed++ : denied++,
                        .kind = scope,
                        .written = std::string(value)};
    if (scope == Scope::kName) {
      exclusions.push_back(Exclusion::name(value, origin));
    } else if (positive) {
      allowances.push_back(scope == Scope::kFile ? Allowance::file(path(value), origin)
                                                 : Allowance::directory(path(value), origin));
    } else {
      exclusions.push_back(scope == Scope::kFile
                               ? Exclusion::file(at(entry.place, value), origin)
                               : Exclusion::directory(at(entry.place, value), origin));
    }
  }
  return make_table(otherwise, std::move(allowances), std::move(exclusions), layer);
}

inline Table deny(const std::vector<Entry>& entries, std::size_t layer = 0) {
  return table(Default::kDeny, entries, layer);
}
inline Table allow(const std::vector<Entry>& entries, std::size_t layer = 0) {
  return table(Default::kAllow, entries, layer);
}

// "none", "for", "against" or "both".
inline std::string says(const Table& asked, const Subject& about) {
  return std::string(evidence_name(asked.evidence(about)));
}

// "-dir /x/y" as it was written; empty for no rule.
inline std::string written(const std::optional<DecidingRule>& rule) {
  if (!rule) return {};
  return std::string(scope_name(rule->origin.kind)) + ' ' + rule->origin.written;
}

inline std::string refusal(const Verdict& verdict) {
  return verdict.refusal ? std::string(reason_name(*verdict.refusal)) : "admitted";
}

}  // namespace loom::law
