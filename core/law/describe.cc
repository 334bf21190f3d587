#include <loom/utf8.h>

#include "law/judge.h"

namespace loom::law {
namespace {

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

// dir "/h/bin" (exec.deny[2] of layer 1, really "/opt/x/bin").
std::string named(const DecidingRule& rule, std::string_view list) {
  const Origin& origin = rule.origin;
  if (origin.layer == Origin::kNobody) return "the default where there is no table";
  const std::string layer = " of layer " + std::to_string(origin.layer);
  if (origin.kind == Scope::kAny) return "the default" + layer;
  std::string text(scope_name(origin.kind));
  text += ' ' + quoted(origin.written) + " (";
  text += list;
  text += '[' + std::to_string(origin.index) + ']' + layer;
  if (rule.real && rule.real->str() != origin.written) {
    text += ", really " + quoted(rule.real->str());
  }
  return text + ')';
}

std::string why_it_holds(Match match) {
  switch (match) {
    case Match::kStored:
      return {};
    case Match::kFolded:
      return "; the name is another spelling of the excluded one, and an exclusion holds under "
             "every spelling";
    case Match::kObject:
      return "; the name is another one of the same object, and an exclusion holds under every "
             "name";
  }
  return {};
}

}  // namespace

std::string describe(const Verdict& verdict, const Subject& subject) {
  std::string text = subject.is_file() ? "running " : "running what is in ";
  text += quoted(subject.real().str());
  if (!verdict.rule) return text + " is refused: no rule allows it";
  if (verdict.admitted()) return text + " is allowed by " + named(*verdict.rule, "exec.allow");
  text += " is refused: excluded by " + named(*verdict.rule, "exec.deny") +
          why_it_holds(verdict.rule->match);
  if (verdict.overridden) {
    text += "; an allowance cannot override an exclusion, and so " +
            named(*verdict.overridden, "exec.allow") + " does not help";
  }
  return text;
}

}  // namespace loom::law
