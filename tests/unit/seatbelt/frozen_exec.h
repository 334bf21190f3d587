#pragma once

#include <loom/plan.h>

#include <optional>
#include <string>
#include <vector>

#include "law/table.h"
#include "model_tree.h"

namespace loom::seatbelt::test {

// An exec table as a host freezes it on a tree, and the table that the law judges by.
struct FrozenExec {
  std::optional<ExecRules> rules{};
  law::Table table = law::Table::no_opinion();

  [[nodiscard]] bool admits(const std::string& real) const;
  // May start besides, so that what is admitted can.
  [[nodiscard]] bool supports(const std::string& real) const;
};
// `support`: what the platform adds where the table asks for it.
[[nodiscard]] FrozenExec freeze(const Policy& policy, const ModelTree& tree,
                                const std::vector<std::string>& support);

// What a plan is asked, on a machine with these facts.
[[nodiscard]] PlanRequest request_for(const Policy& policy, const FrozenExec& exec,
                                      HostFacts facts);
// Facts of a machine on which nothing was surveyed yet.
[[nodiscard]] HostFacts bare_facts(const char* os, const char* launcher, const char* stage2,
                                   Bytes backend);

}  // namespace loom::seatbelt::test
