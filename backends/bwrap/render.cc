#include "render.h"

#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include "compile_filter.h"
#include "landlock_rules.h"
#include "render_argv.h"
#include "replay.h"

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Descriptors of stage 2; bubblewrap passes on what it inherits.
constexpr int kDocumentNumber = 3;
constexpr int kReportNumber = 4;
constexpr int kControlNumber = 5;
constexpr int kStdinNumber = 6;
// Descriptors of bubblewrap: its options, which it closes, and the program it runs.
constexpr int kOptionsNumber = 10;
constexpr int kStage2Number = 11;

std::vector<ViewCheck> view_checks(const std::vector<MountOperation>& view) {
  const ViewReplay replay(view);
  std::vector<ViewCheck> checks;
  for (const MountOperation& operation : view) {
    if (operation.mount_class != MountClass::kProtected) continue;
    const MountOperation* around = replay.effective(operation.region.parent());
    const bool host_around = around != nullptr && is_host_backed(around->mount_class);
    checks.push_back({.path = operation.region.str(),
                      .form = operation.form == MountForm::kNullDevice
                                  ? ViewCheck::Form::kNullDevice
                                  : ViewCheck::Form::kEmptyDirectory,
                      .parent_identity = host_around ? operation.parent_identity : FileIdentity{}});
  }
  return checks;
}

// Where the jail has a tmpfs of its own; /dev is one too.
std::vector<std::string> own_tmpfs(const std::vector<MountOperation>& view) {
  std::vector<std::string> places;
  for (const MountOperation& operation : view) {
    const bool own = operation.mount_class == MountClass::kRootTmpfs ||
                     operation.mount_class == MountClass::kScratchTmpfs ||
                     operation.mount_class == MountClass::kDev;
    if (own) places.push_back(operation.region.str());
  }
  return places;
}

void set_limits(PrepareDocument& document, const RunMemo& memo) {
  document.fsize = memo.fsize_bytes;
  document.cpu_soft = memo.cpu_s;
  // A second later the hard limit kills what ignored the first signal.
  if (memo.cpu_s) document.cpu_hard = *memo.cpu_s == kMost ? kMost : *memo.cpu_s + 1;
}

void set_landlock(PrepareDocument& document, const RunMemo& memo) {
  document.landlock_abi = memo.kernel.landlock_abi;
  document.landlock_reason = memo.kernel.landlock_reason;
  if (memo.kernel.landlock_abi == 0) return;
  document.landlock_handled_fs = handled_rights(memo.kernel.landlock_abi);
  document.landlock_scoped = handled_scopes(memo.kernel.landlock_abi);
  document.landlock_rules = landlock_rules(landlock_view(memo), memo.kernel.landlock_abi);
}

Result<void> set_filter(PrepareDocument& document, const RunMemo& memo) {
  // With the network open the filter only hardens: where it cannot be, that is no missing layer.
  document.filter_wanted = memo.cuts_network() || memo.kernel.seccomp;
  if (!memo.kernel.seccomp) {
    document.filter_reason = memo.kernel.seccomp_reason;
    return {};
  }
  const auto variant = memo.cuts_network() ? SocketFilter::kUnixOnly : SocketFilter::kUsualFamilies;
  LOOM_TRY(document.filter, socket_filter(variant, memo.machine));
  if (memo.cuts_network()) document.filter_tag = "seccomp-net";
  return {};
}

// Each protected name once. Only one that has a mask of its own is in the jail's mount table.
std::vector<WatchedPath> watched_paths(const std::vector<MountOperation>& view,
                                       const RunMemo& memo) {
  std::unordered_set<std::string> masked;
  for (const MountOperation& operation : view) {
    if (operation.mount_class == MountClass::kProtected) masked.insert(operation.region.str());
  }
  std::unordered_set<std::string> seen;
  std::vector<WatchedPath> watched;
  for (const Subject& subject : memo.subjects) {
    if (subject.role != PathRole::kProtected || !seen.insert(subject.real.str()).second) continue;
    watched.push_back({.path = subject.real,
                       .identity = subject.identity,
                       .masked = masked.contains(subject.real.str())});
  }
  return watched;
}

void launch_bubblewrap(LaunchSpec& launch, const JailPlan& plan, const RunMemo& memo) {
  launch.image = ImageKind::kLauncher;
  launch.argv = {"bwrap", "--args", std::to_string(kOptionsNumber),
                 "/proc/self/fd/" + std::to_string(kStage2Number)};
  launch.memory_files.push_back({.role = "launcher options",
                                 .child_number = kOptionsNumber,
                                 .bytes = executed_options(plan.view, memo)});
  launch.handles.push_back({.role = LentHandle::Role::kStage2, .child_number = kStage2Number});
  launch.stdin_number = kStdinNumber;
  launch.watched = watched_paths(plan.view, memo);
  launch.jailed_pids = true;
}

}  // namespace

Result<PrepareDocument> prepare_document(const std::vector<MountOperation>& view,
                                         const RunMemo& memo) {
  PrepareDocument document;
  document.jailed = memo.jailed;
  document.root_read_only = memo.jailed;
  if (memo.jailed) {
    document.view = view_checks(view);
    document.own_tmpfs = own_tmpfs(view);
  }
  set_limits(document, memo);
  for (const std::uint64_t number : memo.keep_caps) {
    document.keep_caps.push_back(static_cast<std::uint32_t>(number));
  }
  set_landlock(document, memo);
  LOOM_TRY_VOID(set_filter(document, memo));
  if (memo.network == NetworkMode::kProxy) {
    document.proxy_reason =
        "there is no proxy to go through; direct network was disabled instead, and the allowlist "
        "was not enforced";
  }
  return document;
}

Result<LaunchSpec> render(const JailPlan& plan) {
  LOOM_TRY(RunMemo memo, decode_run_memo(plan.backend));
  LOOM_TRY(const PrepareDocument document, prepare_document(plan.view, memo));
  LaunchSpec launch;
  launch.memory_files.push_back(
      {.role = "stage-2 document", .child_number = kDocumentNumber, .bytes = encode(document)});
  launch.report_number = kReportNumber;
  launch.control_number = kControlNumber;
  if (memo.jailed) {
    launch_bubblewrap(launch, plan, memo);
  } else {
    launch.image = ImageKind::kStage2;
    launch.argv = {"bwrap-stage2"};
  }
  launch.ceilings = memo.ceilings;
  launch.commit = std::move(memo.commit);
  return launch;
}

}  // namespace loom::bwrap
