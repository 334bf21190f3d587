// Throws from every verb: what it throws has a type that only this module knows.

#include <loom/export_backend.h>

#include <stdexcept>

namespace {

class Private : public std::runtime_error {
 public:
  Private() : std::runtime_error("a private exception") {}
};

class Throws final : public loom::JailBackend {
 public:
  explicit Throws(loom::HostServices&) {}

  loom::Result<loom::Features> features(const loom::HostFacts&) const override { throw Private(); }
  loom::Result<loom::Survey> survey(const loom::SurveyRequest&) const override { throw Private(); }
  loom::Result<loom::Pieces> pieces() const override { throw Private(); }
  loom::Result<loom::Bytes> probe(const loom::ProbeRequest&) override { throw Private(); }
  loom::Result<loom::JailPlan> plan(const loom::PlanRequest&) const override { throw Private(); }
  loom::Result<loom::LaunchSpec> render(const loom::JailPlan&) const override { throw Private(); }
  loom::Result<loom::Audit> audit(const loom::JailPlan&) const override { throw Private(); }
  loom::Result<loom::StartResult> start(const loom::LaunchSpec&) override { throw Private(); }
  loom::Result<void> observe(const loom::TargetsRequest&) override { throw Private(); }
  loom::Result<loom::Targets> targets(const loom::TargetsRequest&) override { throw Private(); }
  void finish() override { throw Private(); }
};

}  // namespace

LOOM_EXPORT_BACKEND(Throws, "throws", "1");
