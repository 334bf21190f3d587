#include <loom/codec.h>
#include <loom/export_backend.h>

#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "boundary.h"
#include "kept_launch.h"

namespace loom::exported {
namespace {

using boundary::Collector;

// The host's C table as the object that the author was promised.
class LentHost final : public HostServices {
 public:
  explicit LentHost(const loom_host_v1& table) : table_(table) {}

  void log(LogLevel level, std::string_view utf8) override {
    table_.log(table_.ctx, static_cast<std::int32_t>(level), boundary::view_of(as_bytes(utf8)));
  }

  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t deadline_ms) override {
    const Bytes request = encode(launch);
    Collector out(boundary::kMaxAnswerBytes);
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink out_sink = out.sink();
    const loom_sink error_sink = error.sink();
    const loom_status status = table_.try_launch(table_.ctx, boundary::view_of(request),
                                                 deadline_ms, &out_sink, &error_sink);
    LOOM_TRY_VOID(boundary::outcome_of("try_launch", status, out, error));
    return decode_trial_result(out.bytes());
  }

  // Nearly every backend spawns the very launch it was given, and a large one takes long to write.
  Result<std::int32_t> spawn(const LaunchSpec& launch) override {
    if (&launch == given_) return spawn_bytes(given_bytes_);
    const Bytes request = encode(launch);
    return spawn_bytes(boundary::view_of(request));
  }

  // While start runs: its launch, and as what bytes it came.
  class Given {
   public:
    Given(LentHost& host, const LaunchSpec& launch, loom_view bytes) noexcept : host_(host) {
      host_.given_ = &launch;
      host_.given_bytes_ = bytes;
    }
    ~Given() { host_.given_ = nullptr; }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;
    Given(Given&&) = delete;
    Given& operator=(Given&&) = delete;

   private:
    LentHost& host_;
  };

  Result<ExecObject> next_exec_object() override {
    Collector out(boundary::kMaxAnswerBytes);
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink out_sink = out.sink();
    const loom_sink error_sink = error.sink();
    const loom_status status = table_.next_exec_object(table_.ctx, &out_sink, &error_sink);
    LOOM_TRY_VOID(boundary::outcome_of("next_exec_object", status, out, error));
    return decode_exec_object(out.bytes());
  }

  Result<std::vector<std::int32_t>> children(std::int32_t pid) override {
    Collector out(boundary::kMaxAnswerBytes);
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink out_sink = out.sink();
    const loom_sink error_sink = error.sink();
    const loom_status status = table_.children(table_.ctx, pid, &out_sink, &error_sink);
    LOOM_TRY_VOID(boundary::outcome_of("children", status, out, error));
    std::vector<std::int32_t> pids(out.bytes().size() / sizeof(std::int32_t));
    if (pids.size() * sizeof(std::int32_t) != out.bytes().size()) {
      return fail(ErrorCode::kSystem, "children: the answer is not a list of process ids");
    }
    if (!pids.empty()) std::memcpy(pids.data(), out.bytes().data(), out.bytes().size());
    return pids;
  }

 private:
  Result<std::int32_t> spawn_bytes(loom_view launch) const {
    Collector error(boundary::kMaxErrorBytes);
    const loom_sink error_sink = error.sink();
    std::int32_t pid = 0;
    const loom_status status = table_.spawn(table_.ctx, launch, &pid, &error_sink);
    LOOM_TRY_VOID(boundary::outcome_of("spawn", status, Collector(0), error));
    return pid;
  }

  const loom_host_v1& table_;  // the host's, for the life of the instance
  const LaunchSpec* given_ = nullptr;
  loom_view given_bytes_{};
};

// What `self` points at. The author's object is destroyed before the host it was given.
struct Instance {
  explicit Instance(const loom_host_v1& table) : host(table) {}
  LentHost host;
  std::unique_ptr<JailBackend> backend;
  boundary::KeptLaunch kept{};
};

JailBackend& backend_of(void* self) { return *static_cast<Instance*>(self)->backend; }

Bytes encoded(const Bytes& raw) { return raw; }
Bytes encoded(const auto& value) { return encode(value); }

// Runs one slot: `answer` yields a Result of what goes to `out`.
template <class Answer>
loom_status run(std::string_view verb, const loom_sink* out, const loom_sink* error,
                Answer answer) noexcept {
  try {
    auto result = answer();
    if (!result) return boundary::report(result.error(), error);
    boundary::append_to(out, encoded(*result));
    return 0;
  } catch (const std::exception& thrown) {
    return boundary::report_thrown(verb, thrown.what(), error);
  } catch (...) {
    return boundary::report_thrown(verb, "something that is not a std::exception", error);
  }
}

// A slot that decodes its input first.
template <class Decode, class Answer>
loom_status run(std::string_view verb, loom_view in, const loom_sink* out, const loom_sink* error,
                Decode decode, Answer answer) noexcept {
  return run(verb, out, error, [&]() -> decltype(answer(*decode(ByteView()))) {
    LOOM_TRY(const auto input, decode(boundary::bytes_of(in)));
    return answer(input);
  });
}

Result<StartResult> start_as(Instance& instance, const LaunchSpec& launch, loom_view bytes) {
  const LentHost::Given given(instance.host, launch, bytes);
  return instance.backend->start(launch);
}

Result<Bytes> nothing(Result<void> result) {
  LOOM_TRY_VOID(std::move(result));
  return Bytes();
}

}  // namespace

void* create(const loom_host_v1* host, const loom_sink* error, Factory factory) noexcept {
  try {
    if (host == nullptr || host->struct_size < sizeof(loom_host_v1)) {
      boundary::append_to(error, as_bytes("create: the host's table is too short"));
      return nullptr;
    }
    auto instance = std::make_unique<Instance>(*host);
    instance->backend = factory(instance->host);
    return instance.release();
  } catch (const std::exception& thrown) {
    (void)boundary::report_thrown("create", thrown.what(), error);
  } catch (...) {
    (void)boundary::report_thrown("create", "something that is not a std::exception", error);
  }
  return nullptr;
}

// A destructor that throws ends the process here, as it would anywhere.
void destroy(void* self) noexcept { delete static_cast<Instance*>(self); }

loom_status features(void* self, loom_view in, const loom_sink* out,
                     const loom_sink* error) noexcept {
  return run("features", in, out, error, decode_host_facts,
             [self](const HostFacts& facts) { return backend_of(self).features(facts); });
}

loom_status survey(void* self, loom_view in, const loom_sink* out,
                   const loom_sink* error) noexcept {
  return run("survey", in, out, error, decode_survey_request,
             [self](const SurveyRequest& request) { return backend_of(self).survey(request); });
}

loom_status pieces(void* self, loom_view in, const loom_sink* out,
                   const loom_sink* error) noexcept {
  return run("pieces", out, error, [self, in]() -> Result<Pieces> {
    if (in.size != 0) return fail(ErrorCode::kInvalidRequest, "pieces: takes no input");
    return backend_of(self).pieces();
  });
}

loom_status probe(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  return run("probe", in, out, error, decode_probe_request,
             [self](const ProbeRequest& request) { return backend_of(self).probe(request); });
}

loom_status plan(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  return run("plan", in, out, error, decode_plan_request,
             [self](const PlanRequest& request) { return backend_of(self).plan(request); });
}

loom_status render(void* self, loom_view in, const loom_sink* out,
                   const loom_sink* error) noexcept {
  return run("render", in, out, error, decode_jail_plan,
             [self](const JailPlan& plan) { return backend_of(self).render(plan); });
}

loom_status audit(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  return run("audit", in, out, error, decode_jail_plan,
             [self](const JailPlan& plan) { return backend_of(self).audit(plan); });
}

loom_status start(void* self, loom_view in, const loom_sink* out, const loom_sink* error) noexcept {
  return run("start", out, error, [self, in]() -> Result<StartResult> {
    Instance& instance = *static_cast<Instance*>(self);
    const ByteView bytes = boundary::bytes_of(in);
    if (const LaunchSpec* const kept = instance.kept.find(bytes)) {
      return start_as(instance, *kept, in);
    }
    instance.kept.forget();
    LOOM_TRY(LaunchSpec launch, decode_launch_spec(bytes));
    auto result = start_as(instance, launch, in);
    if (boundary::KeptLaunch::may_keep(launch, bytes)) {
      instance.kept.keep(std::move(launch), Bytes(bytes.begin(), bytes.end()));
    }
    return result;
  });
}

loom_status observe(void* self, loom_view in, const loom_sink* out,
                    const loom_sink* error) noexcept {
  return run("observe", in, out, error, decode_targets_request,
             [self](const TargetsRequest& snapshot) {
               return nothing(backend_of(self).observe(snapshot));
             });
}

loom_status targets(void* self, loom_view in, const loom_sink* out,
                    const loom_sink* error) noexcept {
  return run("targets", in, out, error, decode_targets_request,
             [self](const TargetsRequest& request) { return backend_of(self).targets(request); });
}

// There is no error to report here: what finish throws is logged and forgotten with the run.
void finish(void* self) noexcept {
  auto& instance = *static_cast<Instance*>(self);
  try {
    instance.backend->finish();
  } catch (...) {
    instance.host.log(LogLevel::kError, "finish threw");
  }
}

}  // namespace loom::exported
