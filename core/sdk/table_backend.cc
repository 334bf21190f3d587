#include <loom/codec.h>
#include <loom/table_backend.h>
#include <loom/utf8.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "boundary.h"
#include "kept_launch.h"

namespace loom {
namespace {

using boundary::Collector;

constexpr std::size_t kMaxLogBytes = 4'096;

// What the services are served from.
struct Lender {
  HostServices* host = nullptr;
  // While start runs: what the backend was given, and as what bytes.
  const LaunchSpec* launch = nullptr;
  ByteView encoded{};

  class Start {
   public:
    Start(Lender& lender, const LaunchSpec& launch, ByteView encoded) noexcept : lender_(lender) {
      lender_.launch = &launch;
      lender_.encoded = encoded;
    }
    ~Start() { lender_.launch = nullptr; }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
    Start(Start&&) = delete;
    Start& operator=(Start&&) = delete;

   private:
    Lender& lender_;
  };
};

HostServices& host_of(void* ctx) { return *static_cast<Lender*>(ctx)->host; }

// Our side of the host's table. Nothing may leave through it either.
template <class Act>
loom_status serve(std::string_view service, const loom_sink* error, Act act) noexcept {
  try {
    const Result<void> done = act();
    return done ? 0 : boundary::report(done.error(), error);
  } catch (const std::exception& thrown) {
    return boundary::report_thrown(service, thrown.what(), error);
  }
}

void serve_log(void* ctx, std::int32_t level, loom_view text) noexcept {
  const bool known = level >= static_cast<std::int32_t>(LogLevel::kDebug) &&
                     level <= static_cast<std::int32_t>(LogLevel::kError);
  host_of(ctx).log(known ? static_cast<LogLevel>(level) : LogLevel::kError,
                   printable(as_text(boundary::bytes_of(text)), kMaxLogBytes));
}

loom_status serve_try_launch(void* ctx, loom_view launch, std::uint32_t deadline_ms,
                             const loom_sink* out, const loom_sink* error) noexcept {
  return serve("try_launch", error, [&]() -> Result<void> {
    LOOM_TRY(const LaunchSpec spec, decode_launch_spec(boundary::bytes_of(launch)));
    LOOM_TRY(const TrialResult trial, host_of(ctx).try_launch(spec, deadline_ms));
    boundary::append_to(out, encode(trial));
    return {};
  });
}

loom_status serve_spawn(void* ctx, loom_view launch, std::int32_t* pid,
                        const loom_sink* error) noexcept {
  return serve("spawn", error, [&]() -> Result<void> {
    const Lender& lender = *static_cast<const Lender*>(ctx);
    const ByteView bytes = boundary::bytes_of(launch);
    // The same bytes are the same launch, and a large one takes long to read.
    if (lender.launch != nullptr && as_text(bytes) == as_text(lender.encoded)) {
      LOOM_TRY(*pid, lender.host->spawn(*lender.launch));
      return {};
    }
    LOOM_TRY(LaunchSpec spec, decode_launch_spec(bytes));
    // A backend that copies its launch has no commit to copy.
    if (lender.launch != nullptr && spec.commit.empty()) spec.commit = lender.launch->commit;
    LOOM_TRY(*pid, lender.host->spawn(spec));
    return {};
  });
}

loom_status serve_next_exec_object(void* ctx, const loom_sink* out,
                                   const loom_sink* error) noexcept {
  return serve("next_exec_object", error, [&]() -> Result<void> {
    LOOM_TRY(const ExecObject object, host_of(ctx).next_exec_object());
    boundary::append_to(out, encode(object));
    return {};
  });
}

loom_status serve_children(void* ctx, std::int32_t pid, const loom_sink* out,
                           const loom_sink* error) noexcept {
  return serve("children", error, [&]() -> Result<void> {
    LOOM_TRY(const auto pids, host_of(ctx).children(pid));
    boundary::append_to(out, std::as_bytes(std::span(pids)));
    return {};
  });
}

class TableBackend final : public JailBackend {
 public:
  TableBackend(const loom_backend_v1& table, HostServices& host)
      : table_(table),
        lender_{.host = &host},
        lent_{.struct_size = static_cast<std::uint32_t>(sizeof(loom_host_v1)),
              .reserved = 0,
              .ctx = &lender_,
              .log = &serve_log,
              .try_launch = &serve_try_launch,
              .spawn = &serve_spawn,
              .next_exec_object = &serve_next_exec_object,
              .children = &serve_children} {}

  ~TableBackend() override {
    if (self_ != nullptr) table_.destroy(self_);
  }

  // Before anything else. The plugin keeps the addresses of lent_ and of what it leads to, so this
  // object never moves.
  [[nodiscard]] Result<void> create() {
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink error_sink = error.sink();
    self_ = table_.create(&lent_, &error_sink);
    if (self_ != nullptr) return {};
    std::string text = printable(as_text(error.bytes()), boundary::kMaxErrorBytes);
    return fail(ErrorCode::kBackend, text.empty() ? "create: no reason given" : std::move(text));
  }

  Result<Features> features(const HostFacts& facts) const override {
    return ask("features", table_.features, encode(facts), decode_features);
  }
  Result<Survey> survey(const SurveyRequest& request) const override {
    return ask("survey", table_.survey, encode(request), decode_survey);
  }
  Result<Pieces> pieces() const override {
    return ask("pieces", table_.pieces, Bytes(), decode_pieces);
  }
  Result<Bytes> probe(const ProbeRequest& request) override {
    return call("probe", table_.probe, encode(request));
  }
  Result<JailPlan> plan(const PlanRequest& request) const override {
    return ask("plan", table_.plan, encode(request), decode_jail_plan);
  }
  Result<LaunchSpec> render(const JailPlan& plan) const override {
    return ask("render", table_.render, encode(plan), decode_launch_spec);
  }
  Result<Audit> audit(const JailPlan& plan) const override {
    return ask("audit", table_.audit, encode(plan), decode_audit);
  }
  // Without the commit, which is ours to send: what a command is told is no backend's business. So
  // one command after the other has the same start, which need not be written again.
  Result<StartResult> start(const LaunchSpec& launch) override {
    if (const Bytes* const bytes = kept_.find(launch)) return start_as(launch, *bytes);
    kept_.forget();
    LaunchSpec told = launch;
    told.commit = Bytes();
    Bytes bytes = encode(told);
    auto result = start_as(launch, bytes);
    if (boundary::KeptLaunch::may_keep(told, bytes)) kept_.keep(std::move(told), std::move(bytes));
    return result;
  }
  Result<void> observe(const TargetsRequest& snapshot) override {
    LOOM_TRY(const Bytes answer, call("observe", table_.observe, encode(snapshot)));
    if (!answer.empty()) return fail(ErrorCode::kBackend, "observe: an answer where none is due");
    return {};
  }
  Result<Targets> targets(const TargetsRequest& request) override {
    return ask("targets", table_.targets, encode(request), decode_targets);
  }
  void finish() override { table_.finish(self_); }

 private:
  [[nodiscard]] Result<Bytes> call(std::string_view verb, loom_verb slot,
                                   const Bytes& input) const {
    Collector out(boundary::kMaxAnswerBytes);
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink out_sink = out.sink();
    const loom_sink error_sink = error.sink();
    const loom_status status = slot(self_, boundary::view_of(input), &out_sink, &error_sink);
    LOOM_TRY_VOID(boundary::outcome_of(verb, status, out, error));
    return out.take();
  }

  template <class T>
  [[nodiscard]] Result<T> ask(std::string_view verb, loom_verb slot, const Bytes& input,
                              Result<T> (*decode)(ByteView)) const {
    LOOM_TRY(const Bytes answer, call(verb, slot, input));
    Result<T> value = decode(answer);
    if (!value) return boundary::broken_answer(verb, value.error());
    return value;
  }

  [[nodiscard]] Result<StartResult> start_as(const LaunchSpec& launch, const Bytes& bytes) {
    const Lender::Start running(lender_, launch, bytes);
    return ask("start", table_.start, bytes, decode_start_result);
  }

  const loom_backend_v1& table_;
  Lender lender_;
  loom_host_v1 lent_;
  void* self_ = nullptr;
  boundary::KeptLaunch kept_;
};

}  // namespace

Result<std::unique_ptr<JailBackend>> make_table_backend(const loom_backend_v1& table,
                                                        HostServices& host) {
  auto backend = std::make_unique<TableBackend>(table, host);
  LOOM_TRY_VOID(backend->create());
  return std::unique_ptr<JailBackend>(std::move(backend));
}

}  // namespace loom
