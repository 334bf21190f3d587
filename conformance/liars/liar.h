#pragma once

#include <loom/codec.h>
#include <loom/export_backend.h>
#include <loom/value.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "backends/bwrap/bwrap_backend.h"

// Backends that lie, each in one thing, for the conformance suite to catch. Each is bubblewrap's
// own backend but for what its file says; none is ever installed.
namespace loom::liars {

// Forwards every verb to a backend that is honest.
template <class Backend>
class Forwards : public JailBackend {
 public:
  explicit Forwards(HostServices& host) : host_(host), inner_(host) {}

  Result<Features> features(const HostFacts& facts) const override {
    return inner_.features(facts);
  }
  Result<Survey> survey(const SurveyRequest& request) const override {
    return inner_.survey(request);
  }
  Result<Pieces> pieces() const override { return inner_.pieces(); }
  Result<Bytes> probe(const ProbeRequest& request) override { return inner_.probe(request); }
  Result<JailPlan> plan(const PlanRequest& request) const override { return inner_.plan(request); }
  Result<LaunchSpec> render(const JailPlan& plan) const override { return inner_.render(plan); }
  Result<Audit> audit(const JailPlan& plan) const override { return inner_.audit(plan); }
  Result<StartResult> start(const LaunchSpec& launch) override { return inner_.start(launch); }
  Result<void> observe(const TargetsRequest& snapshot) override { return inner_.observe(snapshot); }
  Result<Targets> targets(const TargetsRequest& request) override {
    return inner_.targets(request);
  }
  void finish() override { inner_.finish(); }

 protected:
  HostServices& host_;
  Backend inner_;
};
using Honest = Forwards<bwrap::BwrapBackend>;

// Plans another view than was asked for, and audits nothing of it.
class Replans : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const final {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    change(plan);
    return plan;
  }
  Result<Audit> audit(const JailPlan& plan) const final {
    LOOM_TRY(Audit audit, inner_.audit(plan));
    audit.widened.clear();
    return audit;
  }

 protected:
  virtual void change(JailPlan& plan) const = 0;
};

// Shows and audits the plan that was asked for, and carries out another one.
class TwoFaced : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const final {
    LOOM_TRY(JailPlan shown, inner_.plan(request));
    LOOM_TRY(const JailPlan real, inner_.plan(in_truth(request)));
    const Bytes hidden = encode(real);
    ValueWriter both;
    both.array(2);
    both.binary(shown.backend);
    both.binary(hidden);
    shown.backend = both.take();
    return shown;
  }
  Result<LaunchSpec> render(const JailPlan& plan) const final {
    LOOM_TRY(const Value both, parse_value(plan.backend));
    LOOM_TRY(const ByteView hidden, part(both, 1));
    LOOM_TRY(const JailPlan real, decode_jail_plan(hidden));
    return inner_.render(real);
  }
  Result<Audit> audit(const JailPlan& plan) const final {
    LOOM_TRY(const Value both, parse_value(plan.backend));
    LOOM_TRY(const ByteView own, part(both, 0));
    JailPlan shown = plan;
    shown.backend.assign(own.begin(), own.end());
    LOOM_TRY(Audit audit, inner_.audit(shown));
    embellish(audit);
    return audit;
  }

 protected:
  // What is done instead of what was asked.
  [[nodiscard]] virtual PlanRequest in_truth(PlanRequest request) const = 0;
  // What is said besides.
  virtual void embellish(Audit&) const {}

 private:
  [[nodiscard]] static Result<ByteView> part(const Value& both, std::size_t index) {
    if (!both.is(Value::Kind::kArray) || both.items.size() != 2) {
      return fail(ErrorCode::kInvalidRequest, "plan: not of this backend");
    }
    return as_bytes(both.items[index].bytes);
  }
};

}  // namespace loom::liars

// Gives a liar its table. All lies are compiled into one library, and each becomes a shared object
// of its own by the entry that calls its table (entry.c).
#define LOOM_LIAR(Class, name)                                                                 \
  extern "C" const loom_backend_v1* loom_liar_##name() LOOM_NOEXCEPT {                         \
    static constexpr loom_backend_v1 kTable = ::loom::exported::make_table<Class>(#name, "1"); \
    return &kTable;                                                                            \
  }                                                                                            \
  static_assert(true, "so that the use ends in a semicolon")

// For lies about the table itself: `change` gets the honest one before anybody sees it.
#define LOOM_LIAR_TABLE(name, change)                                                          \
  extern "C" const loom_backend_v1* loom_liar_##name() LOOM_NOEXCEPT {                         \
    static const loom_backend_v1 kTable = [] {                                                 \
      loom_backend_v1 table = ::loom::exported::make_table<::loom::liars::Honest>(#name, "1"); \
      change(table);                                                                           \
      return table;                                                                            \
    }();                                                                                       \
    return &kTable;                                                                            \
  }                                                                                            \
  static_assert(true, "so that the use ends in a semicolon")
