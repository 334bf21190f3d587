#pragma once

#include <loom/backend.h>
#include <loom/backend_abi.h>
#include <loom/bytes.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"

namespace loom::conformance {

enum class Verb : std::uint8_t {
  kFeatures,
  kSurvey,
  kPieces,
  kProbe,
  kPlan,
  kRender,
  kAudit,
  kStart,
  kObserve,
  kTargets,
};
inline constexpr std::size_t kVerbs = 10;
[[nodiscard]] std::string_view verb_name(Verb verb) noexcept;

// What came back through the table, as it came.
struct Answer {
  loom_status status = 0;
  Bytes out{};                // at most the ceiling
  std::string error{};        // likewise
  std::size_t out_bytes = 0;  // appended, ceiling or not
  std::size_t error_bytes = 0;
  friend bool operator==(const Answer&, const Answer&) = default;
};
inline constexpr std::size_t kMaxAnswerBytes = 16'777'216;
inline constexpr std::size_t kMaxErrorBytes = 4'096;

// A host that starts nothing and remembers what it was asked.
class RecordingHost final : public HostServices {
 public:
  void log(LogLevel, std::string_view utf8) override { logged.emplace_back(utf8); }
  Result<TrialResult> try_launch(const LaunchSpec&, std::uint32_t) override {
    ++trials;
    return trial;
  }
  Result<std::int32_t> spawn(const LaunchSpec& launch) override {
    spawned.push_back(launch);
    return spawn_answer;
  }
  Result<ExecObject> next_exec_object() override { return ExecObject{}; }
  Result<std::vector<std::int32_t>> children(std::int32_t) override {
    return std::vector<std::int32_t>();
  }

  Result<TrialResult> trial = fail(ErrorCode::kSystem, "nothing is tried here");
  Result<std::int32_t> spawn_answer = 1;
  int trials = 0;
  std::vector<LaunchSpec> spawned{};
  std::vector<std::string> logged{};
};

// One instance of a loaded backend, called through its table in this process. Every call is a step
// of the judgement: a backend that ends the process is named.
class Instance {
 public:
  // All three are borrowed and outlive the instance.
  [[nodiscard]] static Result<std::unique_ptr<Instance>> make(const loom_backend_v1& table,
                                                              HostServices& host,
                                                              Judgement& judgement);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  [[nodiscard]] Answer call(Verb verb, ByteView input) const;
  [[nodiscard]] Answer call(Verb verb, loom_view input) const;

  // As the helper's own adapter has it: an answer that does not decode is kBackend.
  [[nodiscard]] Result<Features> features(const HostFacts& facts) const;
  [[nodiscard]] Result<Survey> survey(const SurveyRequest& request) const;
  [[nodiscard]] Result<Pieces> pieces() const;
  [[nodiscard]] Result<Bytes> probe(const ProbeRequest& request) const;
  [[nodiscard]] Result<JailPlan> plan(const PlanRequest& request) const;
  [[nodiscard]] Result<LaunchSpec> render(const JailPlan& plan) const;
  [[nodiscard]] Result<Audit> audit(const JailPlan& plan) const;
  [[nodiscard]] Result<StartResult> start(const LaunchSpec& launch) const;
  [[nodiscard]] Result<Targets> targets(const TargetsRequest& request) const;
  void finish() const;

 private:
  Instance(const loom_backend_v1& table, Judgement& judgement)
      : table_(table), judgement_(judgement) {}

  const loom_backend_v1& table_;
  Judgement& judgement_;
  std::unique_ptr<JailBackend> adapter_;  // owns what create made, and lends the host's table
  void* self_ = nullptr;
};

// The backend, loaded by the helper's own loader. A loader's refusal is the backend's breach, or,
// where the file could not be opened, nothing that can be judged.
[[nodiscard]] const loom_backend_v1* load(const Subject& subject, Judgement& judgement);

}  // namespace loom::conformance
