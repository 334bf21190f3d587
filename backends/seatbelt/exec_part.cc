#include "exec_part.h"

#include <loom/utf8.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "spellings.h"

namespace loom::seatbelt {
namespace {

template <class T>
std::vector<T> listed(const std::set<T>& set) {
  return {set.begin(), set.end()};
}

void add_place(std::set<ExecPlace>& places, const ExecRule& rule) {
  const bool directory = rule.scope == ExecScope::kDirectory;
  for (AbsolutePath& path : spellings(rule.real)) {
    places.insert({.path = std::move(path), .directory = directory});
  }
}

// Security: a name is the only text of a policy that gets into the profile, as a quoted pattern.
// Nothing is known of how a quote could be written there.
Result<void> require_expressible(const std::string& name) {
  if (is_utf8(name) && name.find('"') == std::string::npos) return {};
  return fail(ErrorCode::kUnsupported, "exec: no profile can express the denied name " +
                                           escaped(name) +
                                           ": deny the file or its directory instead");
}

std::size_t count_rules(const std::vector<ExecRule>& rules) {
  std::set<std::pair<ExecScope, std::string>> distinct;
  for (const ExecRule& rule : rules) {
    const bool named = rule.scope == ExecScope::kName;
    distinct.insert({rule.scope, named ? rule.name : rule.real.str()});
  }
  return distinct.size();
}

}  // namespace

Result<ExecPart> exec_part(const std::optional<ExecRules>& rules) {
  ExecPart part;
  if (!rules) return part;
  part.restrictive = rules->restrictive;
  std::set<ExecPlace> allowed;
  for (const ExecRule& rule : rules->allow) {
    if (rule.scope == ExecScope::kAny) part.any = true;
    const bool object = rule.scope == ExecScope::kDirectory || rule.scope == ExecScope::kFile;
    // A link to "/" must not show the whole host.
    if (object && !rule.real.is_root()) add_place(allowed, rule);
  }
  part.allowed = listed(allowed);
  if (!part.restrictive) return part;

  std::set<ExecPlace> denied;
  std::set<std::string> names;
  for (const ExecRule& rule : rules->deny) {
    if (rule.scope == ExecScope::kName) {
      LOOM_TRY_VOID(require_expressible(rule.name));
      names.insert(rule.name);
    } else {
      add_place(denied, rule);
    }
  }
  part.denied = listed(denied);
  part.denied_names = listed(names);
  for (const AbsolutePath& file : rules->support) {
    for (AbsolutePath& path : spellings(file)) part.support.push_back(std::move(path));
  }
  sort_unique(part.support);
  part.allow_count = count_rules(rules->allow);
  part.deny_count = count_rules(rules->deny);
  return part;
}

}  // namespace loom::seatbelt
