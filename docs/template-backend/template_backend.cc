// A backend to start from: it plans the bare command, holds nothing, and says so in every report.
// Every verb is here; <loom/backend.h> says what each is asked, docs/backend-guide.md what it must
// keep.
#include <loom/codec.h>
#include <loom/digest.h>
#include <loom/export_backend.h>
#include <loom/utf8.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

void append_joined(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

// What the policy asks for and nothing here holds, in the words of reports. What is held some day
// leaves this list.
std::string unheld(const loom::Policy& policy) {
  std::string list = "filesystem view";
  if (!policy.protected_paths.empty()) append_joined(list, "protected paths");
  if (policy.scratch.is_tmpfs()) append_joined(list, "private scratch");
  if (policy.network.blocks_direct()) append_joined(list, "network cut");
  if (policy.network.mode == loom::NetworkMode::kProxy) append_joined(list, "proxy's list");
  if (policy.limits.mem_bytes) append_joined(list, "memory ceiling");
  if (policy.limits.pids) append_joined(list, "process ceiling");
  if (policy.limits.cpu_s) append_joined(list, "CPU-time ceiling");
  if (policy.limits.fsize_bytes) append_joined(list, "file-size ceiling");
  return list;
}

// A required mount whose source is not there refuses, whatever a backend holds.
loom::Result<void> check_mounts(const loom::PlanRequest& request) {
  for (const loom::ExplicitMount& mount : request.policy.mounts) {
    if (!mount.required) continue;
    const std::string place = "mounts: " + loom::escaped(mount.path.str());
    const loom::PathFact* fact = request.facts.find(mount.path);
    if (fact == nullptr) {
      return loom::fail(loom::ErrorCode::kInvalidRequest,
                        place + " (not among the surveyed paths)");
    }
    if (fact->kind == loom::PathKind::kMissing) {
      return loom::fail(loom::ErrorCode::kDenied, place + " (not there)");
    }
  }
  return {};
}

class TemplateBackend final : public loom::JailBackend {
 public:
  explicit TemplateBackend(loom::HostServices& host) : host_(host) {}

  loom::Result<loom::Features> features(const loom::HostFacts&) const override {
    loom::Features features;
    features.tags = {"pgroup", "degraded", "platform-unsupported"};
    features.degraded = true;
    features.refusal = "template has no jail: commands run with every right of this user";
    return features;
  }

  // Which paths of the policy the host must look at, and where the command may write.
  loom::Result<loom::Survey> survey(const loom::SurveyRequest& request) const override {
    const loom::Policy& policy = request.policy;
    loom::Survey survey;
    survey.search_excluded = policy.writable_roots;
    if (const auto& scratch = policy.scratch.host_path) {
      survey.search_excluded.push_back(*scratch);
      survey.scratch_dir = policy.scratch.written.empty() ? scratch->str() : policy.scratch.written;
    }
    for (const loom::ExplicitMount& mount : policy.mounts) {
      survey.paths.push_back({.path = mount.path, .role = loom::PathRole::kMount});
      if (mount.writable) survey.search_excluded.push_back(mount.path);
    }
    return survey;
  }

  // No launcher and no stage 2.
  loom::Result<loom::Pieces> pieces() const override { return loom::Pieces{}; }
  loom::Result<loom::Bytes> probe(const loom::ProbeRequest&) override { return loom::Bytes(); }

  loom::Result<loom::JailPlan> plan(const loom::PlanRequest& request) const override {
    if (request.command.argv.empty()) {
      return loom::fail(loom::ErrorCode::kInvalidRequest, "command: no program named");
    }
    if (request.exec) {
      return loom::fail(loom::ErrorCode::kUnsupported,
                        "confinement_unavailable: template confines no programs");
    }
    LOOM_TRY_VOID(check_mounts(request));
    loom::JailPlan plan;
    plan.digest = loom::sha256_hex({}).substr(0, 16);  // of an empty view
    plan.notes.emplace_back(
        "template has no jail: the command runs with every right of this user.");
    // What render and audit will be asked about; the facts were judged here.
    loom::PlanRequest kept = request;
    kept.facts.paths.clear();
    plan.backend = loom::encode(kept);
    return plan;
  }

  loom::Result<loom::LaunchSpec> render(const loom::JailPlan& plan) const override {
    LOOM_TRY(loom::PlanRequest request, loom::decode_plan_request(plan.backend));
    loom::LaunchSpec launch;
    launch.image = loom::ImageKind::kCommand;
    launch.argv = std::move(request.command.argv);
    launch.environment = std::move(request.command.environment);
    if (!request.command.cwd.empty()) launch.cwd = std::move(request.command.cwd);
    return launch;
  }

  // Every clause is claimed here, or named.
  loom::Result<loom::Audit> audit(const loom::JailPlan& plan) const override {
    LOOM_TRY(const loom::PlanRequest request, loom::decode_plan_request(plan.backend));
    loom::Audit audit;
    audit.expects_witness = false;
    audit.always.push_back("skip:jail: template has no jail; not held: " + unheld(request.policy));
    return audit;
  }

  loom::Result<loom::StartResult> start(const loom::LaunchSpec& launch) override {
    LOOM_TRY([[maybe_unused]] const std::int32_t pid, host_.spawn(launch));
    return loom::StartResult{};
  }
  loom::Result<void> observe(const loom::TargetsRequest&) override { return {}; }
  loom::Result<loom::Targets> targets(const loom::TargetsRequest&) override {
    return loom::Targets{.whole_group = true};
  }
  void finish() override {}

 private:
  loom::HostServices& host_;  // outlives the backend
};

}  // namespace

LOOM_EXPORT_BACKEND(TemplateBackend, "template", "0.1.0");
