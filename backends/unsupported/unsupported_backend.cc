#include "unsupported/unsupported_backend.h"

#include <loom/codec.h>
#include <loom/digest.h>
#include <loom/utf8.h>

#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace loom::unsupported {
namespace {

// Every POSIX system has setrlimit; there is none on Windows.
bool has_resource_limits(const HostFacts& facts) { return facts.os != "windows"; }

std::string system_name(const HostFacts& facts) {
  return facts.os.empty() ? "this system" : escaped(facts.os, 64);
}

void append_joined(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

// The required mounts whose source is not there, as refusals name them; empty when all are.
Result<std::string> absent_mounts(const PlanRequest& request) {
  std::string absent;
  for (const ExplicitMount& mount : request.policy.mounts) {
    if (!mount.required) continue;
    const std::string place =
        std::string(path_role_name(PathRole::kMount)) + ": " + escaped(mount.path.str());
    const PathFact* fact = request.facts.find(mount.path);
    if (fact == nullptr) {
      return fail(ErrorCode::kInvalidRequest, place + " (not among the surveyed paths)");
    }
    if (fact->kind == PathKind::kMissing) {
      append_joined(absent, place + " (" + std::generic_category().message(fact->error) + ")");
    }
  }
  return absent;
}

// What the policy asks for and nothing here holds.
std::string unheld(const PlanRequest& request) {
  const Policy& policy = request.policy;
  std::string list = "filesystem view";
  if (!policy.protected_paths.empty()) append_joined(list, "protected paths");
  if (policy.scratch.is_tmpfs()) append_joined(list, "private scratch");
  if (policy.network.blocks_direct()) append_joined(list, "network cut");
  if (policy.limits.mem_bytes) append_joined(list, "memory ceiling");
  if (policy.limits.pids) append_joined(list, "process ceiling");
  if (!has_resource_limits(request.facts)) {
    if (policy.limits.cpu_s) append_joined(list, "CPU-time ceiling");
    if (policy.limits.fsize_bytes) append_joined(list, "file-size ceiling");
  }
  return list;
}

// One second more than the soft limit, so that the command can tell its end by SIGXCPU from a kill.
std::uint64_t hard_cpu_seconds(std::uint64_t soft) {
  return soft == std::numeric_limits<std::uint64_t>::max() ? soft : soft + 1;
}

std::vector<ChildLimit> child_limits(const PlanRequest& request) {
  std::vector<ChildLimit> limits;
  if (!has_resource_limits(request.facts)) return limits;
  if (const auto fsize = request.policy.limits.fsize_bytes) {
    limits.push_back({.resource = ChildLimit::Resource::kFileSize,
                      .soft = *fsize,
                      .hard = *fsize,
                      .applied_entry = "rlimit-fsize"});
  }
  if (const auto cpu = request.policy.limits.cpu_s) {
    limits.push_back({.resource = ChildLimit::Resource::kCpuSeconds,
                      .soft = *cpu,
                      .hard = hard_cpu_seconds(*cpu),
                      .applied_entry = "rlimit-cpu"});
  }
  return limits;
}

}  // namespace

Result<Features> UnsupportedBackend::features(const HostFacts& facts) const {
  Features features;
  if (has_resource_limits(facts)) features.tags.emplace_back("rlimits");
  features.tags.insert(features.tags.end(), {"pgroup", "degraded", "platform-unsupported"});
  features.degraded = true;
  features.refusal = system_name(facts) +
                     " has no jail in this build: commands would run with every right of this "
                     "user; --allow-unenforced serves nevertheless";
  return features;
}

Result<Survey> UnsupportedBackend::survey(const SurveyRequest& request) const {
  const Policy& policy = request.policy;
  Survey survey;
  survey.search_excluded = policy.writable_roots;
  if (policy.scratch.host_path) {
    survey.search_excluded.push_back(*policy.scratch.host_path);
    survey.scratch_dir =
        policy.scratch.written.empty() ? policy.scratch.host_path->str() : policy.scratch.written;
  }
  for (const ExplicitMount& mount : policy.mounts) {
    survey.paths.push_back({.path = mount.path, .role = PathRole::kMount});
    if (mount.writable) survey.search_excluded.push_back(mount.path);
  }
  return survey;
}

Result<Pieces> UnsupportedBackend::pieces() const { return Pieces{}; }

Result<Bytes> UnsupportedBackend::probe(const ProbeRequest&) { return Bytes(); }

Result<JailPlan> UnsupportedBackend::plan(const PlanRequest& request) const {
  if (request.command.argv.empty()) {
    return fail(ErrorCode::kInvalidRequest, "command: no program named");
  }
  if (request.exec) {
    return fail(ErrorCode::kUnsupported,
                "confinement_unavailable: " + system_name(request.facts) +
                    " has no jail in this build, and a policy of version 3 "
                    "promises one");
  }
  LOOM_TRY(const std::string absent, absent_mounts(request));
  if (!absent.empty()) return fail(ErrorCode::kDenied, absent);

  JailPlan plan;
  plan.digest = sha256_hex({}).substr(0, 16);  // of no operations
  plan.notes.push_back(system_name(request.facts) +
                       " has no jail in this build: the command runs with every right of this "
                       "user.");
  PlanRequest kept = request;
  kept.facts.paths.clear();  // judged above
  kept.facts.backend.clear();
  plan.backend = encode(kept);
  return plan;
}

Result<LaunchSpec> UnsupportedBackend::render(const JailPlan& plan) const {
  LOOM_TRY(PlanRequest request, decode_plan_request(plan.backend));
  LaunchSpec launch;
  launch.image = ImageKind::kCommand;
  launch.child_limits = child_limits(request);
  launch.argv = std::move(request.command.argv);
  launch.environment = std::move(request.command.environment);
  if (!request.command.cwd.empty()) launch.cwd = std::move(request.command.cwd);
  return launch;
}

Result<Audit> UnsupportedBackend::audit(const JailPlan& plan) const {
  LOOM_TRY(const PlanRequest request, decode_plan_request(plan.backend));
  const std::string system = system_name(request.facts);
  Audit audit;
  audit.expects_witness = false;
  audit.always.push_back("skip:jail: " + system +
                         " has no jail in this build; not held: " + unheld(request));
  audit.when_silent.push_back(
      "skip:platform-restrictions: the inner stage has nothing to apply on " + system);
  if (request.policy.network.mode == NetworkMode::kProxy) {
    audit.when_silent.emplace_back(
        "skip:network-proxy: the policy asks for a proxy; its allowlist is not enforced and the "
        "network is not cut");
  }
  return audit;
}

Result<StartResult> UnsupportedBackend::start(const LaunchSpec& launch) {
  LOOM_TRY([[maybe_unused]] const std::int32_t pid, host_.spawn(launch));
  return StartResult{};
}

Result<void> UnsupportedBackend::observe(const TargetsRequest&) { return {}; }

Result<Targets> UnsupportedBackend::targets(const TargetsRequest&) {
  return Targets{.whole_group = true};
}

}  // namespace loom::unsupported
