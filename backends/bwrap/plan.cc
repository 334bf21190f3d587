#include "plan.h"

#include <loom/stage2_control.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "capability_number.h"
#include "compile_filter.h"
#include "explain_filter.h"
#include "list_features.h"
#include "mount_steps.h"
#include "refuse.h"
#include "render_argv.h"
#include "resolve.h"
#include "run_memo.h"
#include "survey.h"
#include "system_roots.h"
#include "view.h"

namespace loom::bwrap {
namespace {

constexpr std::uint32_t kFirstVersion = 2;
constexpr std::uint32_t kExecVersion = 3;  // the first with an exec table

Result<void> refuse_the_impossible(const PlanRequest& request) {
  if (request.command.argv.empty()) return fail(ErrorCode::kInvalidRequest, "the command is empty");
  const std::uint32_t version = request.policy.version;
  if (version < kFirstVersion || version > kExecVersion) {
    return fail(ErrorCode::kUnsupported,
                "policy: version " + std::to_string(version) + " is not enforced by this backend");
  }
  if (version == kExecVersion && !request.exec) {
    return fail(ErrorCode::kInvalidRequest, "policy: version 3 comes without its exec table");
  }
  if (!request.facts.stage2.present) {
    const char* const token = request.exec ? "confinement_unavailable: " : "";
    return fail(ErrorCode::kUnsupported,
                token + ("stage 2 is missing: " + request.facts.stage2.reason));
  }
  return {};
}

void add_subjects(RunMemo& memo, const std::vector<NamedPath>& paths, PathRole role) {
  for (const NamedPath& path : paths) {
    memo.subjects.push_back({.role = role,
                             .writable = false,
                             .present = !path.is_missing(),
                             .written = path.written,
                             .real = path.real,
                             .identity = path.identity});
  }
}

void add_subjects(RunMemo& memo, const ResolvedPolicy& policy) {
  add_subjects(memo, policy.readable, PathRole::kReadableRoot);
  add_subjects(memo, policy.writable, PathRole::kWritableRoot);
  add_subjects(memo, policy.protected_paths, PathRole::kProtected);
  for (const NamedMount& mount : policy.mounts) {
    add_subjects(memo, {mount.at}, PathRole::kMount);
    memo.subjects.back().writable = mount.writable;
  }
  add_subjects(memo, {policy.scratch}, PathRole::kScratch);
}

std::uint64_t count_linked_masks(const ResolvedPolicy& policy) {
  std::set<AbsolutePath> linked;
  for (const NamedPath& path : policy.protected_paths) {
    const bool file = path.kind == PathKind::kRegular || path.kind == PathKind::kOther;
    if (file && path.link_count > 1) linked.insert(path.real);
  }
  return linked.size();
}

// Whether /tmp is, all of it, the jail's own tmpfs: the one place where stage 2 can admit what the
// command makes for itself.
bool has_own_scratch(const std::vector<MountOperation>& view) {
  const ViewReplay replay(view);
  const MountOperation* const at = replay.effective(kScratchRoot);
  return at != nullptr && at->mount_class == MountClass::kScratchTmpfs;
}

// A rule for /tmp is one for whatever is mounted beneath, and says nothing of what is excluded
// there by its identity.
bool scratch_holds_nothing_of_the_host(const std::vector<MountOperation>& view) {
  const AbsolutePath scratch = known_path(kScratchRoot);
  return std::none_of(view.begin(), view.end(), [&scratch](const MountOperation& operation) {
    return is_host_backed(operation.mount_class) && operation.region != scratch &&
           operation.region.is_within(scratch);
  });
}

bool scratch_runs(const ExecRules& rules, const std::vector<MountOperation>& view) {
  return rules.scratch_runs && has_own_scratch(view) &&
         (rules.deny.empty() || scratch_holds_nothing_of_the_host(view));
}

CommitDocument commit_document(const PlanRequest& request, const RunMemo& memo,
                               const std::vector<MountOperation>& view) {
  const Command& command = request.command;
  CommitDocument document{.argv = command.argv,
                          .environment = command.environment,
                          .cwd = command.cwd,
                          .program = {},
                          .program_identity = {},
                          .exec_rules = memo.has_exec_rules(),
                          .scratch_runs = false};
  document.scratch_runs = document.exec_rules && scratch_runs(*request.exec, view);
  if (command.program) {
    document.program = command.program->real.str();
    document.program_identity = command.program->identity;
  }
  return document;
}

Result<RunMemo> make_memo(const PlanRequest& request, const ResolvedPolicy& policy) {
  LOOM_TRY(KernelFacts kernel, decode_kernel_facts(request.facts.backend));
  RunMemo memo;
  memo.jailed = has_jail(request.facts);
  memo.launcher_reason = request.facts.launcher.reason;
  memo.network = request.policy.network.mode;
  memo.cpu_s = request.policy.limits.cpu_s;
  memo.fsize_bytes = request.policy.limits.fsize_bytes;
  memo.ceilings = {.memory_bytes = request.policy.limits.mem_bytes,
                   .pids = request.policy.limits.pids};
  for (const std::string& name : request.keep_capabilities) {
    LOOM_TRY(const std::uint32_t number, capability_number(name));
    memo.keep_caps.push_back(number);
  }
  memo.kernel = std::move(kernel);
  memo.deny_unix_sockets = request.deny_unix_sockets;
  memo.descriptor_limit = request.facts.descriptor_limit;
  memo.machine = request.facts.machine;
  memo.scratch_is_tmpfs = policy.scratch_is_tmpfs;
  add_subjects(memo, policy);
  memo.linked_masks = count_linked_masks(policy);
  memo.hardened = request.exec.has_value();
  memo.confines_programs = request.exec && request.exec->restrictive;
  memo.seals_memory = memo.confines_programs && request.exec->memfd_noexec;
  return memo;
}

// Indices of tolerant binds whose source is absent.
std::vector<std::uint64_t> sourceless(const std::vector<MountOperation>& view) {
  std::vector<std::uint64_t> indices;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool tolerant =
        view[i].form == MountForm::kBindTry || view[i].form == MountForm::kReadOnlyBindTry;
    if (tolerant && view[i].identity == FileIdentity{}) indices.push_back(i);
  }
  return indices;
}

std::vector<MovedSource> moved_sources(const ResolvedPolicy& policy,
                                       const std::vector<MountOperation>& view) {
  std::vector<MovedSource> moved;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const AbsolutePath& source = policy.source_at(view[i].region);
    if (source != view[i].region) moved.push_back({.index = i, .real = source});
  }
  return moved;
}

// Whether the jail can have a link of its own there: the name lies on one of the jail's own tmpfs,
// and no operation needs it, or something below it, as a mount point.
bool has_room_for_link(const AbsolutePath& place, const std::vector<MountOperation>& view,
                       const ViewReplay& replay) {
  const MountOperation* around = replay.effective(place);
  if (around == nullptr || (around->mount_class != MountClass::kRootTmpfs &&
                            around->mount_class != MountClass::kScratchTmpfs)) {
    return false;
  }
  return std::none_of(view.begin(), view.end(), [&place](const MountOperation& operation) {
    return operation.region.is_within(place);
  });
}

// Regions are real paths. Where a policy spells a path through a link of the host, the jail gets
// that very link: a second bind at the written name would show the object without the masks and the
// read-only mounts that lie inside it.
std::vector<HostLink> links_to_show(const ResolvedPolicy& policy,
                                    const std::vector<MountOperation>& view,
                                    const ViewReplay& replay) {
  std::map<AbsolutePath, std::string> links;
  const auto add = [&](const NamedPath& path) {
    if (path.is_missing()) return;
    for (const LinkFact& link : path.links) links.try_emplace(link.place, link.target);
  };
  for (const NamedPath& path : policy.readable) add(path);
  for (const NamedPath& path : policy.writable) add(path);
  for (const NamedMount& mount : policy.mounts) add(mount.at);
  add(policy.scratch);
  std::vector<HostLink> shown;
  for (const auto& [place, target] : links) {
    if (has_room_for_link(place, view, replay)) shown.push_back({.place = place, .target = target});
  }
  return shown;
}

std::vector<std::string> notes(const ResolvedPolicy& policy) {
  std::vector<std::string> sentences;
  for (const NamedPath& path : policy.readable) {
    if (path.is_missing()) {
      sentences.push_back("readable root " + path.written.str() +
                          " does not exist and is left out");
    }
  }
  for (const NamedMount& mount : policy.mounts) {
    if (mount.at.is_missing()) {
      sentences.push_back("optional mount " + mount.at.written.str() +
                          " does not exist and is left out");
    }
  }
  return sentences;
}

// What can be done without is left out before a policy is refused.
Result<void> fit_arguments(const JailPlan& plan, RunMemo& memo) {
  const auto needed = [&] {
    return plan.canonical_argv.size() + further_arguments(plan.view, memo);
  };
  memo.leads = true;
  if (refuse_too_many_arguments(needed())) return {};
  memo.leads = false;
  return refuse_too_many_arguments(needed());
}

// The part of a plan that only bubblewrap can realise.
Result<void> plan_view(const ResolvedPolicy& policy, RunMemo& memo, JailPlan& plan) {
  LOOM_TRY_VOID(refuse_unbuildable(memo));
  LOOM_TRY_VOID(refuse_protected_proc(policy));
  LOOM_TRY_VOID(refuse_host_proc(policy));
  LOOM_TRY_VOID(refuse_mounts_over_masks(policy));
  plan.view = build_view(policy);
  const ViewReplay replay(plan.view);
  LOOM_TRY(memo.link_remarks, judge_links(policy, replay));
  const ProtectedPaths hidden(policy);
  LOOM_TRY(plan.to_make, names_to_make(policy, plan.view, replay, hidden));
  LOOM_TRY_VOID(refuse_unmountable(plan.view, replay, hidden, plan.to_make));
  if (are_made(policy, plan.to_make)) LOOM_TRY_VOID(refuse_unlooked(plan.view, replay));
  LOOM_TRY_VOID(refuse_missing_sources(policy));
  memo.dropped = sourceless(plan.view);
  memo.moved = moved_sources(policy, plan.view);
  memo.links = links_to_show(policy, plan.view, replay);
  plan.canonical_argv = canonical_argv(plan.view, memo.cuts_network());
  plan.digest = view_digest(plan.view);
  plan.notes = notes(policy);
  return fit_arguments(plan, memo);
}

// Making the filter takes as long as the rest of a plan; whoever asks for no launch needs none.
Result<void> refuse_unfilterable(const RunMemo& memo) {
  if (!memo.kernel.seccomp) return {};
  return require_filterable(memo.machine);
}

}  // namespace

Result<JailPlan> plan(const PlanRequest& request) {
  LOOM_TRY_VOID(refuse_the_impossible(request));
  ResolvedPolicy policy = resolve(request.policy, request.facts);
  LOOM_TRY_VOID(refuse_missing_mounts(policy));
  LOOM_TRY(RunMemo memo, make_memo(request, policy));
  if (request.exec) {
    LOOM_TRY_VOID(refuse_unconfinable(memo, request.exec->required));
    policy.admitted = request.exec->allow;
    policy.closed_masks = memo.kernel.launcher.no_closed_masks.empty();
  }
  JailPlan plan;
  if (memo.jailed) LOOM_TRY_VOID(plan_view(policy, memo, plan));
  memo.commit = encode(commit_document(request, memo, plan.view));
  LOOM_TRY_VOID(refuse_unfilterable(memo));
  if (request.explain_filter && memo.kernel.seccomp) {
    plan.filter = explain_filter(memo.filter_variant(), memo.machine);
  }
  plan.backend = encode(memo);
  return plan;
}

}  // namespace loom::bwrap
