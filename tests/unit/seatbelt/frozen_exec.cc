#include "frozen_exec.h"

#include <loom/check.h>

#include <algorithm>
#include <utility>

#include "law/judge.h"

namespace loom::seatbelt::test {
namespace {

AbsolutePath absolute(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());
  return *std::move(path);
}

ExecRule rule_of(ExecScope scope, const std::string& real, const std::string& written,
                 const ModelTree& tree) {
  const bool there = tree.at(real).has_value();
  const std::string above = parent_of(real);
  return {.scope = scope,
          .real = absolute(real),
          .written = written,
          .identity = there ? identity_at(real) : FileIdentity{},
          .parent_identity = tree.at(above) ? identity_at(above) : FileIdentity{}};
}

law::Allowance allowance_of(const ExecRule& rule) {
  if (rule.scope == ExecScope::kAny) return law::Allowance::any({});
  return rule.scope == ExecScope::kDirectory ? law::Allowance::directory(rule.real, {})
                                             : law::Allowance::file(rule.real, {});
}

law::Exclusion exclusion_of(const ExecRule& rule) {
  if (rule.scope == ExecScope::kName) return law::Exclusion::name(rule.name, {});
  return rule.scope == ExecScope::kDirectory ? law::Exclusion::directory({.real = rule.real}, {})
                                             : law::Exclusion::file({.real = rule.real}, {});
}

class Freezing {
 public:
  Freezing(const ExecPolicy& exec, const ModelTree& tree) : exec_(&exec), tree_(&tree) {}

  FrozenExec run(const std::vector<std::string>& support) {
    ExecRules rules;
    rules.restrictive = !exec_->allow_by_default || !exec_->deny.empty();
    if (exec_->allow_by_default)
      allow_.push_back({.scope = ExecScope::kAny, .real = absolute("/")});
    for (const ExecEntry& entry : exec_->allow) allow(entry);
    for (const ExecEntry& entry : exec_->deny) deny(entry);
    FrozenExec frozen{.rules = {}, .table = table()};
    for (const ExecRule& rule : allow_) {
      if (frozen.table.evidence(allowance_of(rule).own_subject()).admits()) {
        rules.allow.push_back(rule);
      }
    }
    rules.deny = deny_;
    if (exec_->system_support && rules.restrictive) add_support(support, frozen, rules);
    frozen.rules = std::move(rules);
    return frozen;
  }

 private:
  void allow(const ExecEntry& entry) {
    if (entry.kind == ExecEntryKind::kName) return;
    const Landing& landing = tree_->walk(entry.value);
    const bool directory = entry.kind == ExecEntryKind::kDirectory;
    if (landing.kind != (directory ? NodeKind::kDirectory : NodeKind::kFile)) return;
    const ExecScope scope = directory ? ExecScope::kDirectory : ExecScope::kFile;
    allow_.push_back(rule_of(scope, landing.real, entry.value, *tree_));
  }

  // The target and, where the path ends in a link, the link itself. The name is kept for both kinds
  // unless an object of the written kind is there.
  void deny(const ExecEntry& entry) {
    if (entry.kind == ExecEntryKind::kName) {
      deny_.push_back({.scope = ExecScope::kName,
                       .real = absolute("/"),
                       .name = entry.value,
                       .written = entry.value});
      return;
    }
    for (const bool follow : {true, false}) {
      const Landing& landing = tree_->walk(entry.value, follow);
      if (!follow && landing.kind != NodeKind::kLink) continue;
      const bool directory = entry.kind == ExecEntryKind::kDirectory;
      const bool as_written = landing.kind == (directory ? NodeKind::kDirectory : NodeKind::kFile);
      for (const ExecScope scope : {ExecScope::kDirectory, ExecScope::kFile}) {
        if (as_written && (scope == ExecScope::kDirectory) != directory) continue;
        deny_.push_back(rule_of(scope, landing.real, entry.value, *tree_));
      }
    }
  }

  [[nodiscard]] law::Table table() const {
    std::vector<law::Allowance> allowances;
    std::vector<law::Exclusion> exclusions;
    for (const ExecRule& rule : allow_) allowances.push_back(allowance_of(rule));
    for (const ExecRule& rule : deny_) exclusions.push_back(exclusion_of(rule));
    return {std::move(allowances), std::move(exclusions)};
  }

  static void add_support(const std::vector<std::string>& support, const FrozenExec& frozen,
                          ExecRules& rules) {
    for (const std::string& file : support) {
      if (!frozen.table.excludes(law::Subject::file(absolute(file)))) {
        rules.support.push_back(absolute(file));
      }
    }
  }

  const ExecPolicy* exec_;
  const ModelTree* tree_;
  std::vector<ExecRule> allow_;
  std::vector<ExecRule> deny_;
};

}  // namespace

bool FrozenExec::admits(const std::string& real) const {
  return !rules || !rules->restrictive ||
         law::judge(table, law::Subject::file(absolute(real))).admitted();
}

bool FrozenExec::supports(const std::string& real) const {
  return rules && std::any_of(rules->support.begin(), rules->support.end(),
                              [&](const AbsolutePath& file) { return file.str() == real; });
}

FrozenExec freeze(const Policy& policy, const ModelTree& tree,
                  const std::vector<std::string>& support) {
  if (policy.version < 3) return {};
  if (!policy.exec) {
    ExecRules none;
    none.allow.push_back({.scope = ExecScope::kAny, .real = absolute("/")});
    return {.rules = std::move(none)};
  }
  return Freezing(*policy.exec, tree).run(support);
}

HostFacts bare_facts(const char* os, const char* launcher, const char* stage2, Bytes backend) {
  HostFacts facts;
  facts.os = os;
  facts.machine = "x86_64";
  facts.launcher = {.present = true, .path = launcher};
  facts.stage2 = {.present = true, .path = stage2};
  facts.backend = std::move(backend);
  return facts;
}

PlanRequest request_for(const Policy& policy, const FrozenExec& exec, HostFacts facts) {
  return {.policy = policy,
          .command = {.argv = {"true"}, .environment = {"PATH=/usr/bin"}, .cwd = "/"},
          .exec = exec.rules,
          .facts = std::move(facts),
          .nonce = "1"};
}

}  // namespace loom::seatbelt::test
