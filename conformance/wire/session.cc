#include "session.h"

#include <algorithm>

namespace loom::conformance {
namespace {

void tell_error(const Error& error, Judgement& judgement) {
  if (error.code == ErrorCode::kSystem) {
    judgement.unjudged(error.message);
  } else {
    judgement.breach(error.message);
  }
}

}  // namespace

Result<void> named(std::string_view what, Result<void> outcome) {
  if (outcome) return outcome;
  Error error = std::move(outcome).error();
  return fail(error.code, std::string(what) + ": " + error.message, error.sys_errno);
}

Result<void> demand(bool holds, const std::string& what) {
  if (holds) return {};
  return fail(ErrorCode::kBackend, what);
}

Result<std::unique_ptr<Conversation>> Session::greeted() const {
  LOOM_TRY(auto talk, Conversation::start(subject, {.policy = pack(policy)}));
  LOOM_TRY(const Frame hello, talk->receive(kHelloPatience));
  if (hello.kind == "hello") return talk;
  return fail(ErrorCode::kBackend, "hello was due, and came: " + hello.text());
}

void judge_session(const Subject& subject, Judgement& judgement,
                   Result<void> (*act)(const Session& session)) {
  auto place = Place::make();
  if (!place) return judgement.unjudged(place.error().message);
  Json policy = policy_for(**place);
  const Session session{.subject = subject,
                        .judgement = judgement,
                        .place = std::move(*place),
                        .policy = std::move(policy)};
  if (const Result<void> outcome = act(session); !outcome) {
    tell_error(outcome.error(), judgement);
  }
}

Result<void> refuses(Conversation& talk, std::string_view kind, const Json& body,
                     std::string_view code, std::string_view word) {
  LOOM_TRY(const std::uint64_t id, talk.send(kind, body));
  LOOM_TRY(const std::string text, talk.expect_error(code, id));
  if (text.find(word) == std::string::npos) {
    return fail(ErrorCode::kBackend,
                "the refusal does not name " + std::string(word) + ": " + text);
  }
  return talk.heartbeat();
}

Result<std::optional<Run>> unless_refused(const Session& session, Conversation& talk,
                                          const Json& start, const Words& names) {
  LOOM_TRY(Run run, talk.execute(start));
  if (!run.error) return std::optional<Run>(std::move(run));
  const std::string text = (*run.error)["msg"].get<std::string>();
  const bool by_name = std::any_of(names.begin(), names.end(), [&text](std::string_view name) {
    return text.find(name) != std::string::npos;
  });
  if ((*run.error)["code"] != "spawn_failed" || !by_name) {
    return fail(ErrorCode::kBackend, "a run, or a refusal by name, was due: " + run.text());
  }
  session.judgement.remark("refused by name: " + text);
  return std::optional<Run>();
}

Result<std::optional<Granted>> first_granted(const Session& session, Conversation& talk,
                                             const Json& start, const std::vector<Json>& policies,
                                             const Words& names) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    LOOM_TRY(auto run, unless_refused(session, talk, with(start, "policy", policies[i]), names));
    if (run) return Granted{.policy = i, .run = std::move(*run)};
  }
  return std::optional<Granted>();
}

Result<void> still_runs(Conversation& talk) {
  LOOM_TRY(const Run run, talk.execute(shell("echo fine")));
  return came_to(run, 0, "fine\n");
}

Result<void> came_to(const Run& run, std::uint64_t code, std::string_view out) {
  if (run.exit && run.code() == code && run.out == out) return {};
  return fail(ErrorCode::kBackend, "exit " + std::to_string(code) + " with \"" + std::string(out) +
                                       "\" was due, and came: " + run.text());
}

Result<Run> running(Conversation& talk, const Json& start) {
  LOOM_TRY(Run run, talk.begin(start));
  LOOM_TRY_VOID(talk.until(run, "up\n"));
  return run;
}

Result<void> ends_cancelled(Conversation& talk, Run& run, Millis patience) {
  LOOM_TRY_VOID(talk.settle(run, patience));
  if (run.exit && run.flag("cancelled") && !run.flag("timed_out")) return {};
  return fail(ErrorCode::kBackend, "cancelled and not timed_out was due, and came: " + run.text());
}

}  // namespace loom::conformance
