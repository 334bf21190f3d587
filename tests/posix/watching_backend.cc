// A backend without a jail that asks the host for what the seatbelt backend needs of it: a private
// scratch, and to see the processes of its runs. For any helper that runs here, Linux' own too. A
// variable of the command's makes one verb fail.
#include <loom/export_backend.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "unsupported/unsupported_backend.h"

namespace loom::test {
namespace {

constexpr std::uint32_t kObserveMs = 20;

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

class WatchingBackend final : public JailBackend {
 public:
  explicit WatchingBackend(HostServices& host) : bare_(host) {}

  // Not degraded, so that a person's run has its home in the scratch.
  Result<Features> features(const HostFacts& facts) const override {
    LOOM_TRY(Features features, bare_.features(facts));
    features.degraded = false;
    return features;
  }
  Result<Pieces> pieces() const override { return bare_.pieces(); }
  Result<Bytes> probe(const ProbeRequest& request) override { return bare_.probe(request); }
  Result<Audit> audit(const JailPlan& plan) const override { return bare_.audit(plan); }
  void finish() override { known_.clear(); }

  Result<Survey> survey(const SurveyRequest& request) const override {
    LOOM_TRY(Survey survey, bare_.survey(request));
    if (request.policy.scratch.is_tmpfs()) {
      survey.private_scratch =
          PrivateScratch{.parent = request.policy.writable_roots.front(), .prefix = "scratch-"};
    }
    return survey;
  }

  Result<JailPlan> plan(const PlanRequest& request) const override {
    if (names(request.command.environment, "PLAN_FAILS=1")) return refusal("plan");
    if (request.policy.scratch.is_tmpfs() != request.private_scratch.has_value()) {
      return refusal("plan: no place for the scratch");
    }
    return bare_.plan(request);
  }

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, bare_.render(plan));
    if (names(launch.environment, "RENDER_FAILS=1")) return refusal("render");
    launch.observe_ms = kObserveMs;
    return launch;
  }

  Result<StartResult> start(const LaunchSpec& launch) override {
    known_.clear();
    blind_ = names(launch.environment, "OBSERVE_FAILS=1");
    if (names(launch.environment, "START_FAILS=1")) return refusal("start");
    return bare_.start(launch);
  }

  Result<void> observe(const TargetsRequest& snapshot) override {
    if (blind_) return refusal("observe");
    remember(snapshot);
    return {};
  }

  Result<Targets> targets(const TargetsRequest& request) override {
    remember(request);
    Targets targets;
    for (const auto& [pid, birth] : known_) {
      if (pid == request.child) continue;
      targets.processes.push_back({.pid = pid, .parent = 0, .birth = birth});
    }
    return targets;
  }

 private:
  static tl::unexpected<Error> refusal(const char* verb) {
    return fail(ErrorCode::kDenied, std::string(verb) + ": told to fail");
  }

  // Whoever was a descendant once stays one.
  void remember(const TargetsRequest& snapshot) {
    for (std::size_t before = known_.size() + 1; before != known_.size();) {
      before = known_.size();
      for (const ProcessRow& row : snapshot.table) {
        if (row.pid == snapshot.child || known_.contains(row.parent)) {
          known_.insert({row.pid, row.birth});
        }
      }
    }
  }

  std::map<std::int32_t, std::uint64_t> known_;
  bool blind_ = false;
  unsupported::UnsupportedBackend bare_;
};

}  // namespace
}  // namespace loom::test

LOOM_EXPORT_BACKEND(loom::test::WatchingBackend, "watching", "0.1.0");
