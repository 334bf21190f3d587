#include "instance.h"

#include <loom/codec.h>
#include <loom/table_backend.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "host/load_backend.h"

namespace loom::conformance {
namespace {

constexpr std::array<std::string_view, kVerbs> kNames = {"features", "survey", "pieces", "probe",
                                                         "plan",     "render", "audit",  "start",
                                                         "observe",  "targets"};

loom_verb slot_of(const loom_backend_v1& table, Verb verb) {
  const std::array<loom_verb, kVerbs> slots = {
      table.features, table.survey, table.pieces, table.probe,   table.plan,
      table.render,   table.audit,  table.start,  table.observe, table.targets};
  return slots[static_cast<std::size_t>(verb)];
}

// Collects up to a ceiling, and counts what comes past it.
struct Collected {
  Bytes bytes{};
  std::size_t ceiling = 0;
  std::size_t offered = 0;

  static void append(void* ctx, const std::uint8_t* data, std::size_t size) noexcept {
    auto& self = *static_cast<Collected*>(ctx);
    self.offered += size;
    if (data == nullptr) return;
    const std::size_t room = std::min(size, self.ceiling - self.bytes.size());
    const auto* first = reinterpret_cast<const std::byte*>(data);
    self.bytes.insert(self.bytes.end(), first, first + room);
  }
  [[nodiscard]] loom_sink sink() noexcept { return {.ctx = this, .append = &append}; }
};

// The SDK's adapter makes the instance and keeps it to itself; a table that looks over its shoulder
// learns which it is. One thread.
const loom_backend_v1* watched_table = nullptr;
void* created = nullptr;

void* watch_create(const loom_host_v1* host, const loom_sink* error) noexcept {
  created = watched_table->create(host, error);
  return created;
}

// Lives as long as the process, which a check has for itself.
const loom_backend_v1& watched(const loom_backend_v1& table) {
  static auto& kept = *new std::deque<loom_backend_v1>();
  loom_backend_v1& copy = kept.emplace_back(table);
  watched_table = &table;
  copy.create = &watch_create;
  return copy;
}

std::string words_of(const Answer& answer) {
  return answer.error.empty() ? "no reason given" : answer.error;
}

template <class T>
Result<T> decoded(Verb verb, const Answer& answer, Result<T> (*decode)(ByteView)) {
  if (answer.status < 0 || answer.status > 5) {
    return fail(ErrorCode::kBackend, std::string(verb_name(verb)) + ": status " +
                                         std::to_string(answer.status) + " is out of range");
  }
  if (answer.status != 0) {
    return fail(static_cast<ErrorCode>(answer.status - 1), words_of(answer));
  }
  Result<T> value = decode(answer.out);
  if (value) return value;
  return fail(ErrorCode::kBackend,
              std::string(verb_name(verb)) + ": unreadable answer: " + value.error().message);
}

Result<Bytes> as_they_are(ByteView bytes) { return Bytes(bytes.begin(), bytes.end()); }

}  // namespace

std::string_view verb_name(Verb verb) noexcept { return kNames[static_cast<std::size_t>(verb)]; }

Result<std::unique_ptr<Instance>> Instance::make(const loom_backend_v1& table, HostServices& host,
                                                 Judgement& judgement) {
  std::unique_ptr<Instance> instance(new Instance(table, judgement));
  judgement.step("create", true);
  LOOM_TRY(instance->adapter_, make_table_backend(watched(table), host));
  instance->self_ = created;
  judgement.step("after create");
  return instance;
}

Instance::~Instance() {
  judgement_.step("destroy", true);
  adapter_.reset();
  judgement_.step("after destroy");
}

Answer Instance::call(Verb verb, ByteView input) const {
  return call(verb, loom_view{.data = reinterpret_cast<const std::uint8_t*>(input.data()),
                              .size = input.size()});
}

Answer Instance::call(Verb verb, loom_view input) const {
  Collected out{.bytes = {}, .ceiling = kMaxAnswerBytes, .offered = 0};
  Collected error{.bytes = {}, .ceiling = kMaxErrorBytes, .offered = 0};
  const loom_sink out_sink = out.sink();
  const loom_sink error_sink = error.sink();
  judgement_.step(verb_name(verb), true);
  const loom_status status = slot_of(table_, verb)(self_, input, &out_sink, &error_sink);
  judgement_.step(std::string("after ").append(verb_name(verb)));
  return {.status = status,
          .out = std::move(out.bytes),
          .error = std::string(as_text(error.bytes)),
          .out_bytes = out.offered,
          .error_bytes = error.offered};
}

Result<Features> Instance::features(const HostFacts& facts) const {
  return decoded(Verb::kFeatures, call(Verb::kFeatures, encode(facts)), decode_features);
}
Result<Survey> Instance::survey(const SurveyRequest& request) const {
  return decoded(Verb::kSurvey, call(Verb::kSurvey, encode(request)), decode_survey);
}
Result<Pieces> Instance::pieces() const {
  return decoded(Verb::kPieces, call(Verb::kPieces, ByteView()), decode_pieces);
}
Result<Bytes> Instance::probe(const ProbeRequest& request) const {
  return decoded(Verb::kProbe, call(Verb::kProbe, encode(request)), &as_they_are);
}
Result<JailPlan> Instance::plan(const PlanRequest& request) const {
  return decoded(Verb::kPlan, call(Verb::kPlan, encode(request)), decode_jail_plan);
}
Result<LaunchSpec> Instance::render(const JailPlan& plan) const {
  return decoded(Verb::kRender, call(Verb::kRender, encode(plan)), decode_launch_spec);
}
Result<Audit> Instance::audit(const JailPlan& plan) const {
  return decoded(Verb::kAudit, call(Verb::kAudit, encode(plan)), decode_audit);
}
// The commit is the host's to send.
Result<StartResult> Instance::start(const LaunchSpec& launch) const {
  LaunchSpec told = launch;
  told.commit = Bytes();
  return decoded(Verb::kStart, call(Verb::kStart, encode(told)), decode_start_result);
}
Result<Targets> Instance::targets(const TargetsRequest& request) const {
  return decoded(Verb::kTargets, call(Verb::kTargets, encode(request)), decode_targets);
}

void Instance::finish() const {
  judgement_.step("finish", true);
  adapter_->finish();
  judgement_.step("after finish");
}

const loom_backend_v1* load(const Subject& subject, Judgement& judgement) {
  judgement.step("load", true);
  const auto table = host::load_backend(subject.backend);
  judgement.step("after load");
  if (table) return *table;
  const std::string why = "the loader refuses it: " + table.error().message;
  if (table.error().code == ErrorCode::kSystem) {
    judgement.unjudged(why);
  } else {
    judgement.breach(why);
  }
  return nullptr;
}

}  // namespace loom::conformance
