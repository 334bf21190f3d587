#pragma once

#include <loom/plan.h>
#include <loom/result.h>

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace loom::seatbelt {

// What a profile says of a file, or of everything below a directory.
struct ExecPlace {
  AbsolutePath path;
  bool directory = false;
  friend auto operator<=>(const ExecPlace&, const ExecPlace&) = default;
};

// An exec table as rules of a profile, which match caselessly and hold for names that do not exist
// yet. Each list in byte order, each path in both of its spellings, each pair once.
struct ExecPart {
  bool restrictive = false;  // the rules below about execution are emitted
  bool any = false;          // everything may run but what is denied
  std::vector<ExecPlace> allowed{};
  std::vector<ExecPlace> denied{};
  std::vector<std::string> denied_names{};
  std::vector<AbsolutePath> support{};
  std::size_t allow_count = 0;  // of the table's own rules, whatever their spellings
  std::size_t deny_count = 0;

  // Whether a program runs only where a rule says so.
  [[nodiscard]] bool confines() const noexcept { return restrictive && !any; }
};

// kUnsupported when a denied name cannot stand in a profile.
[[nodiscard]] Result<ExecPart> exec_part(const std::optional<ExecRules>& rules);

}  // namespace loom::seatbelt
