#pragma once

#include "../clause_words.h"
#include "conversation.h"
#include "documents.h"

namespace loom::conformance {

// What every check of a helper stands on: a place of its own and a policy for it.
struct Session {
  const Subject& subject;
  Judgement& judgement;
  std::unique_ptr<Place> place;
  Json policy;

  // A helper that has shaken hands, under that policy or another.
  [[nodiscard]] Result<std::unique_ptr<Conversation>> open(
      const std::vector<std::string>& features = {}) const {
    return Conversation::open(subject, policy, features);
  }
  // One that was greeted and has not answered; `hello` is what it said.
  [[nodiscard]] Result<std::unique_ptr<Conversation>> greeted() const;
};

// The outcome, and an error with the name of its case before it.
[[nodiscard]] Result<void> named(std::string_view what, Result<void> outcome);
// A breach unless it holds.
[[nodiscard]] Result<void> demand(bool holds, const std::string& what);

// Makes a check of a function of a session: an error is a breach, or unjudged where it is ours.
void judge_session(const Subject& subject, Judgement& judgement,
                   Result<void> (*act)(const Session& session));
template <Result<void> (*kAct)(const Session& session)>
void judged(const Subject& subject, Judgement& judgement) {
  judge_session(subject, judgement, kAct);
}

// The error `code` under the id of this frame, and the channel kept.
[[nodiscard]] Result<void> refuses(Conversation& talk, std::string_view kind, const Json& body,
                                   std::string_view code, std::string_view word = {});
// The run. Nothing where the start is refused by a name, one of `names`, before anything ran:
// whoever cannot hold a clause may say so, and that is a remark.
[[nodiscard]] Result<std::optional<Run>> unless_refused(const Session& session, Conversation& talk,
                                                        const Json& start, const Words& names);
// The first of these policies that is not refused so, and its run.
struct Granted {
  std::size_t policy = 0;
  Run run{};
};
[[nodiscard]] Result<std::optional<Granted>> first_granted(const Session& session,
                                                           Conversation& talk, const Json& start,
                                                           const std::vector<Json>& policies,
                                                           const Words& names);
// The positive control of a refusal: the same helper still runs what is allowed.
[[nodiscard]] Result<void> still_runs(Conversation& talk);
// What a run must have come to.
[[nodiscard]] Result<void> came_to(const Run& run, std::uint64_t code, std::string_view out);
// An execution whose command has said "up" and now does as its script says.
[[nodiscard]] Result<Run> running(Conversation& talk, const Json& start);
// Reads what a run that was ended from outside leads to: output, its exit as `cancelled`, nothing
// more.
[[nodiscard]] Result<void> ends_cancelled(Conversation& talk, Run& run,
                                          Millis patience = kPatience);

}  // namespace loom::conformance
