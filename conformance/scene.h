#pragma once

#include <loom/plan.h>
#include <spdlog/logger.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "instance.h"
#include "place.h"

namespace loom::conformance {

// A backend on this machine, with the very facts that the helper would plan by: its own session
// finds the pieces, probes and surveys.
class Scene {
 public:
  // Null when it said why.
  [[nodiscard]] static std::unique_ptr<Scene> open(const Subject& subject, Judgement& judgement);

  [[nodiscard]] const Place& place() const noexcept { return *place_; }
  [[nodiscard]] app::Session& session() noexcept { return *session_; }
  [[nodiscard]] const Instance& backend() const noexcept { return *backend_; }
  [[nodiscard]] RecordingHost& host() noexcept { return host_; }
  [[nodiscard]] const loom_backend_v1& table() const noexcept { return *table_; }
  // Of the machine, after all probing; without paths.
  [[nodiscard]] const HostFacts& facts() const noexcept { return session_->facts(); }

  // What plan is asked for this policy here, with `argv` as the command.
  [[nodiscard]] Result<PlanRequest> question(const Policy& policy) const;
  // The survey that the question was made by.
  [[nodiscard]] Result<Survey> survey(const Policy& policy) const;

 private:
  explicit Scene(Judgement& judgement) : judgement_(judgement) {}
  [[nodiscard]] Result<void> set_up(const Subject& subject);

  Judgement& judgement_;
  std::unique_ptr<Place> place_;
  std::unique_ptr<spdlog::logger> log_;
  std::unique_ptr<app::Session> session_;
  const loom_backend_v1* table_ = nullptr;
  RecordingHost host_;
  std::unique_ptr<Instance> backend_;  // last: it borrows the host
};

// The plain policy with a protected path, for checks that need some plan: work/.env where the
// backend plans that, and elsewhere/hidden, which nothing grants, where it refuses masks inside of
// grants.
[[nodiscard]] Policy masked_policy(const Scene& scene);

// A version-3 request for the same policy: programs below /usr and /bin may run, nothing else.
[[nodiscard]] PlanRequest with_exec_table(PlanRequest request);

// A policy with a name for messages.
struct NamedPolicy {
  std::string name{};
  Policy policy{};
};
// Policies over `place`, each one valid as a document: one for each clause, then `random` drawn
// ones, the same for the same seed.
[[nodiscard]] std::vector<NamedPolicy> policies_for(const Place& place, std::uint32_t seed,
                                                    int random);
inline constexpr std::uint32_t kSeed = 20'260'101;

// A machine to plan for: this one, or this one without something.
struct ImaginedMachine {
  std::string name{};
  HostFacts facts{};  // without paths
};
// Every one of them is made of the backend's own probe: under filters that refuse what a kernel may
// lack, with trial launches that do not succeed, with pieces that are absent.
[[nodiscard]] std::vector<ImaginedMachine> imagined_machines(const Scene& scene,
                                                             Judgement& judgement);

// What plan would be asked on that machine, if the paths were as they are here.
[[nodiscard]] PlanRequest question_on(const ImaginedMachine& machine, const PlanRequest& here);

// One question and all that the backend answers.
struct Decision {
  std::string name{};  // "two masks, on a machine without a launcher"
  PlanRequest request{};
  Survey survey{};
  Result<JailPlan> plan;
  Audit audit{};
  // Nothing where names have to be made on the host first.
  std::optional<LaunchSpec> launch{};
};
// Every policy on every machine. An audit or a rendering that is refused is a breach, and the
// decision is left out.
void decide_all(const Subject& subject, Judgement& judgement,
                const std::function<void(const Decision&)>& judge);

}  // namespace loom::conformance
