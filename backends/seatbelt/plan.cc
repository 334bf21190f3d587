#include "plan.h"

#include <loom/digest.h>
#include <loom/stage2_control.h>
#include <loom/utf8.h>

#include <algorithm>
#include <utility>

#include "exec_part.h"
#include "launcher_argv.h"
#include "layers.h"
#include "profile.h"
#include "refuse.h"
#include "resolve.h"
#include "run_memo.h"
#include "stage2/prepare_document.h"
#include "view.h"
#include "widened.h"

namespace loom::seatbelt {
namespace {

// Processes that a run may add to those of its account, when its policy names no number.
constexpr std::uint64_t kForkBudget = 512;

// The kernel holds uid 0 to no limit of processes. Where a policy names one, stage 2 says so under
// its name; what nobody asked for is no skip.
bool lacks_fork_brake(const PlanRequest& request) {
  return request.exec && !request.policy.limits.pids && request.facts.uid == 0;
}

PrepareDocument prepare_document(const PlanRequest& request) {
  const Limits& limits = request.policy.limits;
  PrepareDocument document{.fsize_bytes = limits.fsize_bytes,
                           .cpu_s = limits.cpu_s,
                           .address_space_bytes = limits.mem_bytes,
                           .descriptor_limit = request.facts.descriptor_limit,
                           .proxy_asked = request.policy.network.mode == NetworkMode::kProxy};
  if (lacks_fork_brake(request)) return document;
  if (request.exec) {
    document.fork_brake = limits.pids.value_or(kForkBudget);
  } else {
    document.processes = limits.pids;
  }
  return document;
}

CommitDocument commit_document(const Command& command) {
  CommitDocument document{.argv = command.argv,
                          .environment = command.environment,
                          .cwd = command.cwd,
                          .program = {},
                          .program_identity = {},
                          .exec_rules = false,
                          .scratch_runs = false};
  if (command.program) {
    document.program = command.program->real.str();
    document.program_identity = command.program->identity;
  }
  return document;
}

bool is_directory(const HostFacts& facts, const AbsolutePath& path) {
  const PathFact* const fact = facts.find(path);
  if (fact != nullptr) return fact->kind == PathKind::kDirectory;
  return std::any_of(facts.directories.begin(), facts.directories.end(),
                     [&path](const DirectoryFact& known) { return known.path == path; });
}

// Where the launcher starts. The command's directory as far as it is known to be one; stage 2
// changes to it in any case, and says so when it cannot.
std::string start_directory(const PlanRequest& request) {
  const auto asked = AbsolutePath::parse(request.command.cwd);
  return asked && is_directory(request.facts, *asked) ? request.command.cwd : "/";
}

Counts count(const ResolvedPolicy& policy, const Layers& layers, const ExecPart& exec) {
  Counts counts{.writable = layers.writable_roots.size(),
                .protected_paths = protected_spellings(policy).size(),
                .exec_allow = exec.allow_count,
                .exec_deny = exec.deny_count};
  for (const MountPlace& mount : layers.mounts)
    ++(mount.writable ? counts.bind_rw : counts.bind_ro);
  return counts;
}

std::string digest_of(const RunMemo& memo) {
  std::string content = memo.profile;
  for (const std::string& definition : memo.definitions) {
    content += '\0';
    content += definition;
  }
  return sha256_hex(as_bytes(content)).substr(0, 16);
}

std::vector<std::string> notes(const ResolvedPolicy& policy) {
  std::vector<std::string> sentences;
  for (const Place& place : policy.readable) {
    if (!place.is_missing()) continue;
    sentences.push_back("readable root " + place.written.str() +
                        " does not exist; its rules hold for whatever gets the name");
  }
  for (const MountPlace& mount : policy.mounts) {
    if (!mount.at.is_missing()) continue;
    sentences.push_back("optional mount " + mount.at.written.str() +
                        " does not exist and is left out");
  }
  return sentences;
}

RunMemo make_memo(const PlanRequest& request, const ResolvedPolicy& policy, const Layers& layers,
                  const ExecPart& exec, const std::vector<MountOperation>& view) {
  Profile profile = write_profile({.policy = &policy,
                                   .layers = &layers,
                                   .exec = &exec,
                                   .network = request.policy.network.mode,
                                   .denies_unix_sockets = request.deny_unix_sockets});
  Widened widened = widened_roots(policy, view);
  return {.profile = std::move(profile.text),
          .definitions = std::move(profile.definitions),
          .stage2 = request.facts.stage2.path,
          .cwd = start_directory(request),
          .prepare = encode(prepare_document(request)),
          .commit = encode(commit_document(request.command)),
          .counts = count(policy, layers, exec),
          .private_scratch = policy.private_scratch.has_value(),
          .shows_whole_host = layers.shows_whole_host(),
          .cuts_network = request.policy.network.blocks_direct(),
          .confines_programs = exec.restrictive,
          .denies_unix_sockets = request.deny_unix_sockets,
          .lacks_fork_brake = lacks_fork_brake(request),
          .widened = std::move(widened.entries),
          .remarks = std::move(widened.remarks)};
}

}  // namespace

Result<JailPlan> plan(const PlanRequest& request) {
  LOOM_TRY_VOID(refuse_the_impossible(request));
  LOOM_TRY(const ResolvedPolicy policy, resolve(request));
  LOOM_TRY_VOID(refuse_missing_mounts(policy));
  LOOM_TRY_VOID(refuse_mounts_over_protected(policy));
  LOOM_TRY_VOID(refuse_protected_stage2(policy));
  LOOM_TRY(const ExecPart exec, exec_part(request.exec));
  const Layers layers = lay(policy);
  std::vector<MountOperation> view = build_view(policy, layers, request.exec);
  const RunMemo memo = make_memo(request, policy, layers, exec, view);
  const std::vector<std::string> argv = launcher_argv(memo);
  LOOM_TRY_VOID(refuse_too_large(argv));

  JailPlan plan;
  plan.view = std::move(view);
  // The profile itself, however it travels, and its definitions.
  plan.canonical_argv = {"-p", memo.profile};
  for (const std::string& definition : memo.definitions) {
    plan.canonical_argv.push_back("-D" + definition);
  }
  plan.digest = digest_of(memo);
  plan.notes = notes(policy);
  plan.backend = encode(memo);
  return plan;
}

}  // namespace loom::seatbelt
