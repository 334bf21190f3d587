#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/compile_filter.h"
#include "backends/bwrap/explain_filter.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "backends/bwrap/run_memo.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Policy policy_with(NetworkMode mode) {
  Policy policy = base_policy();
  policy.network.mode = mode;
  return policy;
}

Machine without_filters() {
  Machine machine = base_machine();
  machine.kernel({.landlock_abi = 7,
                  .landlock_reason = {},
                  .seccomp = false,
                  .seccomp_reason = "Invalid argument",
                  .launcher = {}});
  return machine;
}

JailPlan plan_denying_unix(const Machine& machine, NetworkMode mode) {
  PlanRequest request = machine.request(policy_with(mode));
  request.deny_unix_sockets = true;
  const auto made = plan(request);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *made : JailPlan{};
}

PrepareDocument document_of(const JailPlan& plan) {
  const auto memo = decode_run_memo(plan.backend);
  EXPECT_TRUE(memo);
  const auto document = prepare_document(plan.view, memo ? *memo : RunMemo{});
  EXPECT_TRUE(document);
  return document ? *document : PrepareDocument{};
}

std::vector<std::string> extras_of(const JailPlan& plan) {
  const auto judged = audit(plan);
  EXPECT_TRUE(judged);
  return judged ? judged->extras : std::vector<std::string>{};
}

// design D7, D24
TEST(PlanFilterTest, TheDenySetIsInForceInEveryNetworkModeAndWithoutBubblewrap) {
  Machine degraded = base_machine();
  degraded.without_launcher();
  for (const Machine& machine : {base_machine(), degraded}) {
    for (const NetworkMode mode : {NetworkMode::kOff, NetworkMode::kProxy, NetworkMode::kFull}) {
      const JailPlan plan = plan_of(machine, policy_with(mode));
      const PrepareDocument document = document_of(plan);
      EXPECT_TRUE(document.filter_denies);
      EXPECT_FALSE(document.denies_unix);
      const FilterVariant variant{.cuts_network = mode != NetworkMode::kFull, .denies_unix = false};
      EXPECT_EQ(document.filter, *compile_filter(variant, "x86_64"));
      // Stage 2 has the word on it.
      EXPECT_THAT(extras_of(plan), Not(Contains(HasSubstr("seccomp-deny"))));
    }
  }
}

// design D26
TEST(PlanFilterTest, UnixSocketsAreDeniedWhereTheOperatorSaysSo) {
  for (const NetworkMode mode : {NetworkMode::kOff, NetworkMode::kFull}) {
    const JailPlan plan = plan_denying_unix(base_machine(), mode);
    const PrepareDocument document = document_of(plan);
    EXPECT_TRUE(document.denies_unix);
    const FilterVariant variant{.cuts_network = mode != NetworkMode::kFull, .denies_unix = true};
    EXPECT_EQ(document.filter, *compile_filter(variant, "x86_64"));
    EXPECT_THAT(extras_of(plan), Not(Contains("unheld:unix-path")));
    EXPECT_EQ(plan.canonical_argv, plan_of(base_machine(), policy_with(mode)).canonical_argv);
  }
  EXPECT_THAT(extras_of(plan_of(base_machine(), base_policy())), Contains("unheld:unix-path"));
}

// Nobody makes the filter of a plan that is not launched; that none can be made is said at once.
TEST(PlanFilterTest, AMachineWithoutAFilterIsRefusedByThePlan) {
  PlanRequest request = base_machine().request(base_policy());
  ASSERT_TRUE(plan(request));
  request.facts.machine = "vax";
  const auto refused = plan(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("vax"));

  PlanRequest unfiltered = without_filters().request(base_policy());
  unfiltered.facts.machine = "vax";
  EXPECT_TRUE(plan(unfiltered));
}

// guard 5.1
TEST(PlanFilterTest, WithoutFiltersTheReportSaysWhatIsNotHeldAndWhy) {
  for (const NetworkMode mode : {NetworkMode::kOff, NetworkMode::kFull}) {
    const JailPlan plan = plan_denying_unix(without_filters(), mode);
    const PrepareDocument document = document_of(plan);
    EXPECT_THAT(document.filter, IsEmpty());
    EXPECT_FALSE(document.filter_denies);
    EXPECT_FALSE(document.denies_unix);
    const std::vector<std::string> extras = extras_of(plan);
    EXPECT_THAT(extras, Contains("unheld:seccomp-deny=Invalid argument"));
    EXPECT_THAT(extras, Contains("unheld:unix-path"));
    EXPECT_EQ(std::count(extras.begin(), extras.end(), "unheld:socket-families"),
              mode == NetworkMode::kFull ? 1 : 0);
  }
}

TEST(PlanFilterTest, ThePlanExplainsItsFilterWhenAsked) {
  PlanRequest request = base_machine().request(policy_with(NetworkMode::kFull));
  const auto silent = plan(request);
  ASSERT_TRUE(silent);
  EXPECT_THAT(silent->filter, IsEmpty());
  request.explain_filter = true;
  const auto explained = plan(request);
  ASSERT_TRUE(explained);
  EXPECT_EQ(explained->filter,
            explain_filter({.cuts_network = false, .denies_unix = false}, "x86_64"));
  EXPECT_EQ(explained->backend, silent->backend);

  PlanRequest unfiltered = without_filters().request(base_policy());
  unfiltered.explain_filter = true;
  const auto nothing = plan(unfiltered);
  ASSERT_TRUE(nothing);
  EXPECT_THAT(nothing->filter, IsEmpty());
}

}  // namespace
}  // namespace loom::bwrap::test
