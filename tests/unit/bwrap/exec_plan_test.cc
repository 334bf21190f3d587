#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/stage2_control.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/compile_filter.h"
#include "backends/bwrap/explain_filter.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "machine.h"

namespace loom::bwrap::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

ExecRule rule(ExecScope scope, const std::string& real, const std::string& written) {
  return {.scope = scope,
          .real = path(real),
          .name = {},
          .written = written,
          .identity = identity_of(real),
          .parent_identity = identity_of(path(real).parent().str())};
}
ExecRule directory(const std::string& at) { return rule(ExecScope::kDirectory, at, at); }
ExecRule file(const std::string& at) { return rule(ExecScope::kFile, at, at); }

// A table that admits these, and nothing else.
ExecRules admitting(std::vector<ExecRule> rules) {
  ExecRules table;
  table.restrictive = true;
  table.allow = std::move(rules);
  return table;
}

Policy third_version(Policy policy) {
  policy.version = 3;
  return policy;
}

KernelFacts good_kernel() {
  KernelFacts kernel{.landlock_abi = 7,
                     .landlock_reason = {},
                     .landlock_unclear = false,
                     .seccomp = true,
                     .seccomp_reason = {},
                     .launcher = {}};
  kernel.launcher.tried = kernel.launcher.by_handle = true;
  return kernel;
}

PlanRequest asked(const Machine& machine, const Policy& policy, ExecRules table) {
  PlanRequest request = machine.request(third_version(policy));
  request.exec = std::move(table);
  return request;
}

JailPlan made(const PlanRequest& request) {
  auto plan = bwrap::plan(request);
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message);
  return plan ? *std::move(plan) : JailPlan{};
}

Error refused(const PlanRequest& request) {
  const auto plan = bwrap::plan(request);
  EXPECT_FALSE(plan.has_value());
  return plan ? Error{.code = ErrorCode::kSystem, .message = {}} : plan.error();
}

LaunchSpec rendered(const JailPlan& plan) {
  auto launch = render(plan);
  EXPECT_TRUE(launch.has_value()) << (launch ? "" : launch.error().message);
  return launch ? *std::move(launch) : LaunchSpec{};
}

std::vector<std::string> extras_of(const JailPlan& plan) {
  const auto judged = audit(plan);
  EXPECT_TRUE(judged);
  return judged ? judged->extras : std::vector<std::string>{};
}

std::vector<std::string> shown_for_exec(const JailPlan& plan) {
  std::vector<std::string> regions;
  for (const MountOperation& operation : plan.view) {
    if (operation.mount_class == MountClass::kExecShown) regions.push_back(operation.region.str());
  }
  return regions;
}

std::string options_of(const LaunchSpec& launch) {
  std::string text = " ";
  for (const MemoryFile& file : launch.memory_files) {
    if (file.role != "launcher options") continue;
    for (const char byte : as_text(file.bytes)) text += byte == '\0' ? ' ' : byte;
  }
  return text;
}

PrepareDocument document_of(const JailPlan& plan) {
  for (const MemoryFile& memory : rendered(plan).memory_files) {
    if (memory.child_number != 3) continue;
    const auto document = decode_prepare_document(memory.bytes);
    EXPECT_TRUE(document.has_value());
    return document ? *document : PrepareDocument{};
  }
  ADD_FAILURE() << "no document at 3";
  return {};
}

CommitDocument commit_of(const JailPlan& plan) {
  const auto commit = decode_commit_document(rendered(plan).commit);
  EXPECT_TRUE(commit.has_value());
  return commit ? *commit : CommitDocument{};
}

Machine tooled_machine() {
  Machine machine = base_machine();
  machine.kernel(good_kernel()).directory("/srv/bin").file("/srv/tool").directory("/opt/tools");
  return machine;
}

// guard 1.8, 5.2: P2
TEST(ExecPlanTest, WhatIsAdmittedAndNothingShowsIsShownReadOnlyByHandle) {
  const JailPlan plan =
      made(asked(tooled_machine(), base_policy(), admitting({directory("/srv/bin")})));
  EXPECT_THAT(shown_for_exec(plan), ElementsAre("/srv/bin"));
  const ViewReplay replay(plan.view);
  const MountOperation* const at = replay.effective("/srv/bin/deep/tool");
  ASSERT_NE(at, nullptr);
  EXPECT_EQ(at->mount_class, MountClass::kExecShown);
  EXPECT_TRUE(is_host_backed(at->mount_class));
  EXPECT_FALSE(is_writable(at->mount_class));
  EXPECT_FALSE(is_masked(at->mount_class));

  const LaunchSpec launch = rendered(plan);
  const auto lent =
      std::find_if(launch.handles.begin(), launch.handles.end(),
                   [](const LentHandle& handle) { return handle.path == path("/srv/bin"); });
  ASSERT_NE(lent, launch.handles.end());
  EXPECT_EQ(lent->identity, identity_of("/srv/bin"));
  EXPECT_THAT(options_of(launch),
              HasSubstr(" --ro-bind-fd " + std::to_string(lent->child_number) + " /srv/bin "));
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --ro-bind-try /srv/bin /srv/bin "));
}

TEST(ExecPlanTest, WhatARegionShowsOrHidesAlreadyAddsNothing) {
  Machine machine = tooled_machine();
  machine.directory("/mnt/m").file("/mnt/m/tool").directory("/home/s");
  Policy policy = base_policy();
  policy.mounts = {mount("/mnt/m", false, true)};
  const ExecRules table = admitting(
      {directory("/usr/bin"), file("/usr/bin/sh"), directory("/opt/tools"), file("/work/run"),
       directory("/work"), directory("/tmp/build"), directory("/tmp"), file("/mnt/m/tool"),
       directory("/proc/self"), file("/dev/fuse"), directory("/"), file("/srv/tool")});
  EXPECT_THAT(shown_for_exec(made(asked(machine, policy, table))), ElementsAre("/srv/tool"));

  policy.readable_roots.push_back(path("/"));
  machine.directory("/");
  EXPECT_THAT(shown_for_exec(made(asked(machine, policy, table))), IsEmpty());
}

TEST(ExecPlanTest, NamesAbsentObjectsAndEverythingAddNothingAndNestedOnesAreShownOnce) {
  ExecRule absent = directory("/srv/absent");
  absent.identity = {};
  ExecRule any = file("/srv/tool");
  any.scope = ExecScope::kAny;
  ExecRule name = file("/srv/tool");
  name.scope = ExecScope::kName;
  const ExecRules table =
      admitting({file("/srv/bin/tool"), absent, any, name, directory("/srv/bin"),
                 directory("/srv/bin"), directory("/srv/bin/deep")});
  EXPECT_THAT(shown_for_exec(made(asked(tooled_machine(), base_policy(), table))),
              ElementsAre("/srv/bin"));
}

TEST(ExecPlanTest, TheOrderOfATableDoesNotMatter) {
  std::vector<ExecRule> rules = {directory("/srv/bin"), file("/srv/bin/x"), file("/srv/tool"),
                                 rule(ExecScope::kFile, "/srv/tool", "/a")};
  const PlanRequest forward = asked(tooled_machine(), base_policy(), admitting(rules));
  std::reverse(rules.begin(), rules.end());
  const PlanRequest backward = asked(tooled_machine(), base_policy(), admitting(rules));
  EXPECT_EQ(made(forward).view, made(backward).view);
}

TEST(ExecPlanTest, AGrantInsideWhatIsShownForExecutionWins) {
  Machine machine = tooled_machine();
  machine.directory("/srv/bin/out").directory("/srv/bin/secret");
  Policy policy = base_policy();
  policy.writable_roots.push_back(path("/srv/bin/out"));
  policy.protected_paths.push_back(path("/srv/bin/secret"));
  const JailPlan plan = made(asked(machine, policy, admitting({directory("/srv/bin")})));
  const ViewReplay replay(plan.view);
  EXPECT_EQ(replay.effective("/srv/bin/x")->mount_class, MountClass::kExecShown);
  EXPECT_EQ(replay.effective("/srv/bin/out/x")->mount_class, MountClass::kWritable);
  EXPECT_EQ(replay.effective("/srv/bin/secret/x")->mount_class, MountClass::kProtected);
}

// A mask at every name, those of what is shown for execution included.
TEST(ExecPlanTest, AProtectedPathIsMaskedWhereAnAllowanceShowsItOnceMore) {
  Machine machine = tooled_machine();
  machine.directory("/work/.git").directory("/alias").mounted("/work", "/w", "8:1");
  machine.mounted("/alias", "/w", "8:1");
  const JailPlan plan = made(asked(machine, base_policy(), admitting({directory("/alias")})));
  EXPECT_EQ(ViewReplay(plan.view).effective("/alias/.git/x")->mount_class, MountClass::kProtected);
  EXPECT_EQ(ViewReplay(plan.view).effective("/alias/x")->mount_class, MountClass::kExecShown);
}

// What is protected may be all of what an allowance shows. A directory is no mount point for a
// file.
TEST(ExecPlanTest, AnAllowanceThatIsAProtectedObjectByAnotherNameIsMaskedAsWhatItIs) {
  Machine machine = tooled_machine();
  machine.directory("/alias").file("/alias/tool").directory("/alias/more");
  machine.mounted("/work", "/w", "8:1").mounted("/alias", "/w/.git", "8:1");
  const JailPlan plan = made(
      asked(machine, base_policy(), admitting({file("/alias/tool"), directory("/alias/more")})));
  const ViewReplay replay(plan.view);
  EXPECT_EQ(replay.effective("/alias/tool")->form, MountForm::kNullDevice);
  EXPECT_EQ(replay.effective("/alias/more")->form, MountForm::kClosedDirectory);
}

// guard 5.8
TEST(ExecPlanTest, ALaunchOfVersion3HasItsOwnSessionAndNoFurtherUserNamespaces) {
  for (const bool restrictive : {true, false}) {
    ExecRules table;
    table.restrictive = restrictive;
    const JailPlan plan = made(asked(tooled_machine(), base_policy(), table));
    EXPECT_THAT(options_of(rendered(plan)),
                StartsWith(" --die-with-parent --new-session --unshare-user --disable-userns "
                           "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try "
                           "--unshare-net "));
    EXPECT_THAT(joined(plan.canonical_argv),
                StartsWith(" --die-with-parent --unshare-pid --unshare-ipc --unshare-uts "
                           "--unshare-user-try --unshare-cgroup-try --unshare-net "));
    EXPECT_THAT(extras_of(plan), Not(Contains(StartsWith("unheld:disable-userns"))));
  }
  const std::string second = options_of(launch_of(tooled_machine(), base_policy()));
  EXPECT_THAT(second, AllOf(HasSubstr(" --unshare-user-try "), Not(HasSubstr("--new-session")),
                            Not(HasSubstr("--disable-userns")), Not(HasSubstr("--perms 0000"))));
}

// guard 5.2: I7; 5.4.7
TEST(ExecPlanTest, WhatBubblewrapCannotHardenIsLeftOutAndReportedByVersion3Alone) {
  KernelFacts kernel = good_kernel();
  kernel.launcher.no_userns_ban = "setuid";
  kernel.launcher.no_closed_masks = "no remount";
  Machine machine = tooled_machine();
  machine.kernel(kernel);
  const JailPlan plan = made(asked(machine, base_policy(), {}));
  EXPECT_THAT(options_of(rendered(plan)),
              AllOf(HasSubstr(" --unshare-user-try "), Not(HasSubstr("--disable-userns")),
                    HasSubstr(" --new-session "), Not(HasSubstr("--perms 0000"))));
  EXPECT_THAT(joined(plan.canonical_argv), HasSubstr(" --tmpfs /work/.git --remount-ro "));
  EXPECT_THAT(extras_of(plan), AllOf(Contains("unheld:disable-userns=setuid"),
                                     Contains("unheld:closed-masks=no remount")));
  EXPECT_THAT(extras_of(plan_of(machine, base_policy())),
              AllOf(Not(Contains(StartsWith("unheld:disable-userns"))),
                    Not(Contains(StartsWith("unheld:closed-masks")))));
}

// guard 5.4.7
TEST(ExecPlanTest, MasksOfDirectoriesAreClosedAndStage2LooksForThat) {
  const JailPlan plan = made(asked(tooled_machine(), base_policy(), {}));
  EXPECT_THAT(joined(plan.canonical_argv),
              AllOf(HasSubstr(" --perms 0000 --tmpfs /work/.git --remount-ro /work/.git "),
                    HasSubstr(" --ro-bind /dev/null /work/.env ")));
  std::vector<ViewCheck::Form> forms;
  for (const ViewCheck& check : document_of(plan).view) forms.push_back(check.form);
  EXPECT_THAT(forms, ElementsAre(ViewCheck::Form::kNullDevice, ViewCheck::Form::kClosedDirectory));
  const auto judged = audit(plan);
  ASSERT_TRUE(judged);
  EXPECT_THAT(judged->when_witnessed, Contains(HasSubstr("mask=2")));
  EXPECT_THAT(judged->widened, IsEmpty());
}

// guard 4.8, 3.8
TEST(ExecPlanTest, TheCommitSaysWhatIsExecutedAndUnderWhichRules) {
  PlanRequest request = asked(tooled_machine(), base_policy(), admitting({file("/srv/tool")}));
  request.command.program = {.real = path("/srv/tool"), .identity = identity_of("/srv/tool")};
  const JailPlan plan = made(request);
  EXPECT_EQ(commit_of(plan), (CommitDocument{.argv = {"true"},
                                             .environment = {"PATH=/usr/bin"},
                                             .cwd = "/work",
                                             .program = "/srv/tool",
                                             .program_identity = identity_of("/srv/tool"),
                                             .exec_rules = true,
                                             .scratch_runs = false}));
  EXPECT_TRUE(rendered(plan).wants_exec_rules);

  request.exec->restrictive = false;
  EXPECT_FALSE(commit_of(made(request)).exec_rules);
  EXPECT_FALSE(rendered(made(request)).wants_exec_rules);
  EXPECT_FALSE(launch_of(tooled_machine(), base_policy()).wants_exec_rules);
}

TEST(ExecPlanTest, ThePlanOfAProgramIsThePlanWithoutOneButForTheCommit) {
  PlanRequest request = asked(tooled_machine(), base_policy(), admitting({file("/srv/tool")}));
  const JailPlan before = made(request);
  request.command.program = {.real = path("/srv/tool"), .identity = identity_of("/srv/tool")};
  request.exec->support = paths({"/usr/lib/ld.so"});
  const JailPlan after = made(request);
  EXPECT_EQ(before.view, after.view);
  EXPECT_EQ(before.canonical_argv, after.canonical_argv);
  EXPECT_NE(before.backend, after.backend);
}

// guard 4.8
TEST(ExecPlanTest, TheScratchRunsOnlyWhereItIsTheJailsOwn) {
  Machine machine = tooled_machine();
  machine.directory("/scratch").directory("/tmp/m");
  ExecRules table = admitting({});
  const auto runs = [&](const Policy& policy) {
    return commit_of(made(asked(machine, policy, table))).scratch_runs;
  };
  EXPECT_FALSE(runs(base_policy()));
  table.scratch_runs = true;
  EXPECT_TRUE(runs(base_policy()));
  Policy elsewhere = base_policy();
  elsewhere.scratch = host_scratch("/scratch");
  EXPECT_FALSE(runs(elsewhere));
  elsewhere.readable_roots.push_back(path("/tmp"));
  EXPECT_FALSE(runs(elsewhere));
  Policy mounted = base_policy();
  mounted.mounts = {mount("/tmp", true, true)};
  EXPECT_FALSE(runs(mounted));
  Policy hidden = base_policy();
  hidden.protected_paths.push_back(path("/tmp"));
  EXPECT_FALSE(runs(hidden));
  Policy shows_below = base_policy();
  shows_below.readable_roots.push_back(path("/tmp/m"));
  EXPECT_TRUE(runs(shows_below));
  table.deny.push_back({.scope = ExecScope::kName, .real = AbsolutePath::root(), .name = "x"});
  EXPECT_FALSE(runs(shows_below));
  EXPECT_TRUE(runs(base_policy()));
  table.restrictive = false;
  EXPECT_FALSE(runs(base_policy()));
}

// guard 5.5: S7, S14, S15; design D7, D8
TEST(ExecPlanTest, TheFilterConfinesProgramsExactlyWhereTheTableDoes) {
  Policy open = base_policy();
  open.network.mode = NetworkMode::kFull;
  for (const bool restrictive : {false, true}) {
    for (const bool sealed : {false, true}) {
      ExecRules table;
      table.restrictive = restrictive;
      table.memfd_noexec = sealed;
      PlanRequest request = asked(tooled_machine(), open, table);
      request.explain_filter = true;
      const JailPlan plan = made(request);
      const FilterVariant variant{.cuts_network = false,
                                  .denies_unix = false,
                                  .confines_programs = restrictive,
                                  .seals_memory = restrictive && sealed};
      EXPECT_EQ(document_of(plan).filter, *compile_filter(variant, "x86_64"));
      EXPECT_EQ(plan.filter, explain_filter(variant, "x86_64"));
    }
  }
}

struct Lack {
  const char* name;
  std::function<void(KernelFacts&)> take;
  const char* said;
  // Which launches of version 3 cannot go without it.
  bool cut_only = false;
  bool confining_only = false;
};

const std::vector<Lack>& lacks() {
  static const std::vector<Lack> all = {
      {"bubblewrap", [](KernelFacts& k) { k.launcher.broken = "no jail here"; }, "no jail here"},
      {"handles",
       [](KernelFacts& k) {
         k.launcher.by_handle = false;
         k.launcher.no_handles = "too old";
       },
       "too old"},
      {"answer",
       [](KernelFacts& k) {
         k.landlock_abi = 0;
         k.landlock_unclear = true;
         k.landlock_reason = "Operation not permitted";
       },
       "Operation not permitted"},
      {"network", [](KernelFacts& k) { k.launcher.no_network = "loopback: no"; }, "loopback: no",
       true},
      {"filter",
       [](KernelFacts& k) {
         k.seccomp = false;
         k.seccomp_reason = "no filters";
       },
       "no filters", true, true},
      {"landlock",
       [](KernelFacts& k) {
         k.landlock_abi = 0;
         k.landlock_reason = "Function not implemented";
       },
       "Function not implemented", false, true},
      {"processes",
       [](KernelFacts& k) {
         k.launcher.no_pids = "mount proc";
         k.landlock_abi = 0;
         k.landlock_reason = "Function not implemented";
       },
       "mount proc"}};
  return all;
}

// guard 5.2: P1, P3, P4; 4.1; 9.6: 125
TEST(ExecPlanTest, WhatIsPromisedAndCannotBeHeldIsRefusedInOneWord) {
  for (const Lack& lack : lacks()) {
    KernelFacts kernel = good_kernel();
    lack.take(kernel);
    Machine machine = tooled_machine();
    machine.kernel(kernel);
    for (const bool cut : {true, false}) {
      for (const bool confining : {true, false}) {
        Policy policy = base_policy();
        policy.network.mode = cut ? NetworkMode::kOff : NetworkMode::kFull;
        ExecRules table;
        table.restrictive = confining;
        const PlanRequest request = asked(machine, policy, table);
        const bool conditional = lack.cut_only || lack.confining_only;
        const bool due =
            !conditional || (lack.cut_only && cut) || (lack.confining_only && confining);
        SCOPED_TRACE(std::string(lack.name) + (cut ? " cut" : " open") +
                     (confining ? " confining" : ""));
        if (!due) {
          EXPECT_TRUE(bwrap::plan(request));
          continue;
        }
        const Error error = refused(request);
        EXPECT_EQ(error.code, ErrorCode::kUnsupported);
        EXPECT_THAT(error.message,
                    AllOf(StartsWith("confinement_unavailable: "), HasSubstr(lack.said)));
      }
    }
  }
}

TEST(ExecPlanTest, WithoutBubblewrapOrStage2Version3IsRefusedAndVersion2IsNot) {
  Machine machine = tooled_machine();
  machine.without_launcher();
  EXPECT_THAT(refused(asked(machine, base_policy(), {})).message,
              AllOf(StartsWith("confinement_unavailable: "), HasSubstr("no bwrap on PATH")));
  EXPECT_TRUE(plan(machine.request(base_policy())));
  EXPECT_THAT(refused(asked(tooled_machine().without_stage2(), base_policy(), {})).message,
              AllOf(StartsWith("confinement_unavailable: "), HasSubstr("no such file")));
  EXPECT_THAT(refusal_of(tooled_machine().without_stage2(), base_policy()),
              StartsWith("stage 2 is missing"));
}

// guard 9.6: 125
TEST(ExecPlanTest, ATableThatIsNotRequiredGoesWithoutAndTheReportSaysSo) {
  ExecRules table = admitting({file("/srv/tool")});
  table.required = false;
  KernelFacts kernel = good_kernel();
  kernel.landlock_abi = 0;
  kernel.landlock_reason = "Function not implemented";
  const JailPlan plan = made(asked(tooled_machine().kernel(kernel), base_policy(), table));
  EXPECT_FALSE(rendered(plan).wants_exec_rules);
  EXPECT_FALSE(commit_of(plan).exec_rules);
  EXPECT_THAT(extras_of(plan), Contains("unheld:exec-landlock=Function not implemented"));

  kernel = good_kernel();
  kernel.seccomp = false;
  kernel.seccomp_reason = "no filters";
  Policy open = base_policy();
  open.network.mode = NetworkMode::kFull;
  const JailPlan unfiltered = made(asked(tooled_machine().kernel(kernel), open, table));
  EXPECT_TRUE(rendered(unfiltered).wants_exec_rules);
  EXPECT_THAT(extras_of(unfiltered),
              Contains(AllOf(StartsWith("unheld:exec-landlock="), HasSubstr("no filters"))));

  // The control: where everything is there, nothing is unheld.
  EXPECT_THAT(extras_of(made(asked(tooled_machine(), base_policy(), table))),
              Not(Contains(StartsWith("unheld:exec-landlock"))));
}

TEST(ExecPlanTest, ADocumentOfVersion3WithoutItsTableIsRefusedAndOneOfVersion4Too) {
  EXPECT_EQ(refused(tooled_machine().request(third_version(base_policy()))).code,
            ErrorCode::kInvalidRequest);
  Policy fourth = base_policy();
  fourth.version = 4;
  PlanRequest request = tooled_machine().request(fourth);
  request.exec = ExecRules{};
  EXPECT_THAT(refused(request).message, HasSubstr("version 4"));
}

// An inline policy of version 2 under a base of version 3 is a launch of version 3.
TEST(ExecPlanTest, ADocumentOfVersion2CanBeALaunchOfVersion3) {
  PlanRequest request = tooled_machine().request(base_policy());
  const JailPlan second = made(request);
  request.exec = admitting({file("/srv/tool")});
  const JailPlan third = made(request);
  EXPECT_THAT(shown_for_exec(third), ElementsAre("/srv/tool"));
  EXPECT_THAT(shown_for_exec(second), IsEmpty());
  EXPECT_NE(second.digest, third.digest);
  EXPECT_EQ(second.digest, plan_of(tooled_machine(), base_policy()).digest);
}

// bubblewrap counts the words that it really gets.
TEST(ExecPlanTest, TheFurtherWordsOfVersion3CountAgainstTheCeiling) {
  static constexpr std::size_t kCeiling = 8'900;
  static constexpr std::size_t kWordsOfRoot = 3;
  Machine machine = tooled_machine();
  machine.directory("/home/s");
  Policy policy = base_policy();
  policy.protected_paths.clear();
  const std::size_t few = made(machine.request(policy)).canonical_argv.size();
  for (std::size_t i = 0; i < (kCeiling - few) / kWordsOfRoot; ++i) {
    const std::string at = "/data/" + std::to_string(i);
    machine.directory(at);
    policy.readable_roots.push_back(path(at));
  }
  // Each of these is one word less or more, so that both sides of the ceiling are met.
  std::vector<bool> fits;
  for (const NetworkMode mode : {NetworkMode::kFull, NetworkMode::kOff}) {
    for (const Scratch& scratch : {Scratch{}, host_scratch("/home/s")}) {
      policy.network.mode = mode;
      policy.scratch = scratch;
      const auto second = bwrap::plan(machine.request(policy));
      if (!second) continue;
      const bool due = second->canonical_argv.size() + 2 <= kCeiling;
      EXPECT_EQ(bwrap::plan(asked(machine, policy, {})).has_value(), due);
      fits.push_back(due);
    }
  }
  EXPECT_THAT(fits, AllOf(Contains(true), Contains(false)));
}

}  // namespace
}  // namespace loom::bwrap::test
