#include "plan.h"

#include <loom/stage2_control.h>
#include <loom/utf8.h>

#include <set>
#include <utility>

#include "filter.h"
#include "kernel_facts.h"
#include "places.h"
#include "prepare_document.h"
#include "refuse.h"
#include "run_memo.h"
#include "view.h"

namespace landlock {
namespace {

using loom::PathRole;

FilterChoice filter_choice(const loom::PlanRequest& request) {
  return {.cuts_network = request.policy.network.blocks_direct(),
          .denies_unix = request.deny_unix_sockets};
}

loom::Result<PrepareDocument> prepare_document(const loom::PlanRequest& request,
                                               const std::vector<loom::MountOperation>& view,
                                               std::uint32_t abi) {
  const FilterChoice choice = filter_choice(request);
  PrepareDocument document{.abi = abi,
                           .handled_files = handled_files(abi),
                           .handled_tcp = choice.cuts_network ? handled_tcp(abi) : 0,
                           .scopes = handled_scopes(abi),
                           .rules = rules_of(view, abi),
                           .filter = {},
                           .cuts_network = choice.cuts_network,
                           .denies_unix = choice.denies_unix,
                           .file_bytes = request.policy.limits.fsize_bytes,
                           .cpu_s = request.policy.limits.cpu_s,
                           .descriptors = request.facts.descriptor_limit};
  LOOM_TRY(document.filter, compile_filter(choice, request.facts.machine));
  return document;
}

loom::Bytes commit_document(const loom::Command& command) {
  return loom::encode(loom::CommitDocument{.argv = command.argv,
                                           .environment = command.environment,
                                           .cwd = command.cwd,
                                           .program = {},
                                           .program_identity = {},
                                           .exec_rules = false,
                                           .scratch_runs = false});
}

// Landlock opens places, not objects: whoever moves what is protected to a place that is open has
// shown it, and the report shall say so.
std::vector<loom::WatchedPath> watched(const Places& places) {
  std::vector<loom::WatchedPath> paths;
  for (const Place& path : places.hidden) {
    if (path.is_missing() || (!paths.empty() && paths.back().path == path.real)) continue;
    paths.push_back({.path = path.real, .identity = path.identity, .masked = false});
  }
  return paths;
}

std::vector<Subject> subjects(const Places& places) {
  std::vector<Subject> all;
  const auto add = [&all](const Place& place) {
    if (place.role == PathRole::kSystemRoot ||
        (place.is_missing() && place.role != PathRole::kProtected))
      return;
    all.push_back({.role = place.role, .written = place.written, .real = place.real});
  };
  for (const Place& place : places.grants) add(place);
  for (const Place& place : places.hidden) add(place);
  return all;
}

std::uint64_t count_linked_masks(const Places& places) {
  std::set<loom::AbsolutePath> linked;
  for (const Place& path : places.hidden) {
    const bool file = path.kind == loom::PathKind::kRegular || path.kind == loom::PathKind::kOther;
    if (file && path.link_count > 1) linked.insert(path.real);
  }
  return linked.size();
}

// The helper makes one only for a policy that has a ceiling for it.
bool is_in_group(const loom::PlanRequest& request) {
  const auto& limits = request.policy.limits;
  return request.facts.ceilings.available && (limits.mem_bytes || limits.pids);
}

std::vector<std::string> notes(const Places& places) {
  std::vector<std::string> sentences;
  for (const Place& place : places.grants) {
    if (!place.is_missing() || place.role == PathRole::kSystemRoot) continue;
    sentences.push_back(described(place) + " does not exist and is left out");
  }
  return sentences;
}

}  // namespace

loom::Result<loom::JailPlan> plan(const loom::PlanRequest& request) {
  LOOM_TRY(const KernelFacts kernel, decode_kernel_facts(request.facts.backend));
  const Places places = find_places(request);
  LOOM_TRY_VOID(refuse_request(request, kernel));
  LOOM_TRY_VOID(refuse_missing(places));
  LOOM_TRY_VOID(refuse_unholdable(places, request.facts.mounts));
  loom::JailPlan plan;
  plan.view = build_view(places);
  plan.digest = view_digest(plan.view);
  plan.notes = notes(places);
  if (request.explain_filter) plan.filter = explain_filter(filter_choice(request));
  LOOM_TRY(const PrepareDocument document, prepare_document(request, plan.view, kernel.abi));
  const RunMemo memo{.document = encode(document),
                     .commit = commit_document(request.command),
                     .ceilings = {.memory_bytes = request.policy.limits.mem_bytes,
                                  .pids = request.policy.limits.pids},
                     .watched = watched(places),
                     .subjects = subjects(places),
                     .abi = kernel.abi,
                     .denies_unix = request.deny_unix_sockets,
                     .private_scratch = places.private_scratch.has_value(),
                     .in_group = is_in_group(request),
                     .linked_masks = count_linked_masks(places)};
  plan.backend = encode(memo);
  return plan;
}

}  // namespace landlock
