#include "render.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "compile_filter.h"
#include "landlock_rules.h"
#include "mount_steps.h"
#include "render_argv.h"

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

ViewCheck::Form check_form(const MountOperation& operation) noexcept {
  if (operation.mount_class == MountClass::kPin) return ViewCheck::Form::kPin;
  if (operation.mount_class != MountClass::kProtected) return ViewCheck::Form::kReadOnlyBind;
  if (operation.form == MountForm::kNullDevice) return ViewCheck::Form::kNullDevice;
  return operation.form == MountForm::kClosedDirectory ? ViewCheck::Form::kClosedDirectory
                                                       : ViewCheck::Form::kEmptyDirectory;
}

// Masks, pins, and what is read-only inside a region that the command can write: each of them lost
// would give the command more.
std::vector<ViewCheck> view_checks(const std::vector<MountOperation>& view) {
  const ViewReplay replay(view);
  std::vector<ViewCheck> checks;
  for (const MountOperation& operation : view) {
    const MountOperation* around = replay.effective(operation.region.parent());
    const bool mask = operation.mount_class == MountClass::kProtected;
    const bool read_only = operation.mount_class == MountClass::kReadable ||
                           operation.mount_class == MountClass::kMountReadOnly;
    const bool narrows = read_only && operation.identity != FileIdentity{} && around != nullptr &&
                         is_host_writable(around->mount_class) &&
                         replay.effective(operation.region) == &operation;
    if (!mask && !narrows && operation.mount_class != MountClass::kPin) continue;
    const bool host_around = around != nullptr && is_host_backed(around->mount_class);
    checks.push_back({.path = operation.region.str(),
                      .form = check_form(operation),
                      .parent_identity = host_around ? operation.parent_identity : FileIdentity{},
                      .identity = mask ? FileIdentity{} : operation.identity});
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
  document.descriptor_limit = memo.descriptor_limit;
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
  LOOM_TRY(document.filter, remembered_filter(memo.filter_variant(), memo.machine));
  // Claimed only where the command cannot have an unfiltered process of its jail act for it.
  document.filter_denies = !memo.jailed || memo.kernel.landlock_abi > 0;
  document.denies_unix = memo.deny_unix_sockets;
  if (memo.cuts_network()) document.filter_tag = "seccomp-net";
  return {};
}

// Whether the host calls an object by the name that the view gives it. Below a system root that is
// a link it does not.
bool is_host_name(const AbsolutePath& region, const std::vector<MountOperation>& view,
                  const RunMemo& memo) {
  return std::none_of(memo.moved.begin(), memo.moved.end(), [&](const MovedSource& moved) {
    return region.is_within(view[moved.index].region);
  });
}

// Whether the view would show what the host has under a protected name, were its mask not there
// (the name lies in a region of the host's, or is one itself), or shows the object under another
// name. Where it would not, whoever has the name exchanged nothing.
bool may_be_seen(const Subject& subject, const std::vector<MountOperation>& view,
                 const ViewReplay& replay) {
  const MountOperation* const around = replay.effective(subject.real.parent());
  if (around != nullptr && is_host_backed(around->mount_class)) return true;
  return std::any_of(view.begin(), view.end(), [&subject](const MountOperation& operation) {
    if (operation.region == subject.real) return is_host_backed(operation.mount_class);
    return operation.mount_class == MountClass::kProtected &&
           operation.identity == subject.identity;
  });
}

// Each mask once, and each other name that the host has for what it hides. A protected name that
// lies behind another's mask is that one's.
std::vector<WatchedPath> watched_paths(const std::vector<MountOperation>& view,
                                       const RunMemo& memo) {
  const ViewReplay replay(view);
  std::unordered_set<std::string_view> masks;
  for (const MountOperation& operation : view) {
    if (operation.mount_class == MountClass::kProtected) masks.insert(operation.region.str());
  }
  std::unordered_set<std::string_view> seen;
  std::vector<WatchedPath> watched;
  for (const Subject& subject : memo.subjects) {
    if (subject.role != PathRole::kProtected || !masks.contains(subject.real.str())) continue;
    if (!seen.insert(subject.real.str()).second) continue;
    const bool named = may_be_seen(subject, view, replay);
    watched.push_back({.path = subject.real,
                       .identity = named ? subject.identity : FileIdentity{},
                       .masked = true});
  }
  for (const MountOperation& operation : view) {
    const bool other_name =
        operation.mount_class == MountClass::kProtected && operation.identity != FileIdentity{} &&
        !seen.contains(operation.region.str()) && is_host_name(operation.region, view, memo);
    if (!other_name) continue;
    watched.push_back({.path = operation.region, .identity = operation.identity, .masked = true});
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
  for (const LentSource& source : lent_sources(plan.view, memo)) {
    launch.handles.push_back({.role = LentHandle::Role::kSource,
                              .child_number = source.number,
                              .path = source.path,
                              .identity = plan.view[source.index].identity});
  }
  launch.stdin_number = kStdinNumber;
  launch.watched = watched_paths(plan.view, memo);
  launch.jailed_pids = memo.kernel.launcher.no_pids.empty();
}

// A first plan that nobody followed up (JailPlan::to_make).
Result<void> refuse_unmade(const std::vector<MountOperation>& view) {
  for (const MountOperation& operation : view) {
    if (operation.mount_class != MountClass::kPin || operation.identity != FileIdentity{}) continue;
    return fail(ErrorCode::kInvalidRequest,
                "plan: " + operation.region.str() + " has not been made yet");
  }
  return {};
}

}  // namespace

Result<PrepareDocument> prepare_document(const std::vector<MountOperation>& view,
                                         const RunMemo& memo) {
  PrepareDocument document;
  document.jailed = memo.jailed;
  document.shares_pids = memo.jailed && !memo.kernel.launcher.no_pids.empty();
  document.root_read_only = memo.jailed;
  if (memo.jailed) {
    LOOM_TRY_VOID(refuse_unmade(view));
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
  launch.wants_exec_rules = memo.has_exec_rules();
  return launch;
}

}  // namespace loom::bwrap
