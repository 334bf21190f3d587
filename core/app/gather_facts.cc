#include "app/gather_facts.h"

#include <loom/other_names.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "host/own_mounts.h"
#include "host/path_survey.h"

namespace loom::app {
namespace {

// Whether the jail may show a path: it lies below something that the survey wants shown.
bool may_be_shown(const AbsolutePath& name, const HostFacts& facts, const Survey& survey) {
  for (std::size_t i = 0; i < survey.paths.size(); ++i) {
    const bool shown = survey.paths[i].role != PathRole::kProtected;
    if (shown && name.is_within(facts.paths[i].real)) return true;
  }
  return false;
}

// Where the mounts of the host show a protected path once more, the directories there matter too,
// and whether the name itself is one. A name that cannot be looked at without a risk is left
// alone; whoever plans sees that it is not among the directories.
std::vector<DirectoryFact> look_at_other_names(const HostFacts& facts, const Survey& survey,
                                               const host::ReachableMounts& mounts,
                                               host::PathSurveyor& surveyor) {
  std::vector<DirectoryFact> found;
  const MountNames names(facts.mounts);
  for (std::size_t i = 0; i < survey.paths.size(); ++i) {
    if (survey.paths[i].role != PathRole::kProtected) continue;
    const AbsolutePath& hidden = facts.paths[i].real;
    for (const OtherName& name : names.of(hidden)) {
      if (!may_be_shown(name.path, facts, survey)) continue;
      if (mounts.may_block_more(name.path, hidden)) continue;
      const PathFact fact = surveyor.look(name.path);
      if (fact.kind != PathKind::kDirectory || fact.real != name.path) continue;
      found.push_back({.path = name.path, .identity = fact.identity, .placeholder = false});
    }
  }
  return found;
}

void add_missing(std::vector<DirectoryFact> more, std::vector<DirectoryFact>& directories) {
  const auto by_path = [](const DirectoryFact& a, const DirectoryFact& b) {
    return a.path < b.path;
  };
  directories.insert(directories.end(), more.begin(), more.end());
  std::stable_sort(directories.begin(), directories.end(), by_path);
  const auto again =
      std::unique(directories.begin(), directories.end(),
                  [](const DirectoryFact& a, const DirectoryFact& b) { return a.path == b.path; });
  directories.erase(again, directories.end());
}

// What the mounts say of the protected paths.
Result<std::vector<DirectoryFact>> gather_mounts(Session& session, const Survey& survey,
                                                 HostFacts& facts, host::PathSurveyor& surveyor) {
  LOOM_TRY(const host::ReachableMounts* const mounts, session.mounts());
  std::vector<AbsolutePath> hidden;
  for (std::size_t i = 0; i < survey.paths.size(); ++i) {
    if (survey.paths[i].role == PathRole::kProtected) hidden.push_back(facts.paths[i].real);
  }
  facts.mounts = mounts->that_may_show_again(hidden);
  if (facts.mounts.empty()) return std::vector<DirectoryFact>();
  return look_at_other_names(facts, survey, *mounts, surveyor);
}

// Whether no mount came or went since then, where that matters.
Result<bool> has_same_mounts(Session& session, const Survey& survey, const FactsLook& last) {
  if (!survey.needs_mounts) return true;
  LOOM_TRY_VOID(session.mounts());
  return session.mount_readings() == last.mount_readings;
}

// Null where something changed. The mounts are asked for before: a name below one that has died
// since must not be looked at, which would wait for ever. And after: they are to be those of the
// paths.
Result<std::shared_ptr<const HostFacts>> look_once_more(Session& session, const Survey& survey) {
  const std::optional<FactsLook>& last = session.last_look().facts;
  if (!last || last->survey != survey || last->known_before != session.facts()) return nullptr;
  LOOM_TRY(const bool before, has_same_mounts(session, survey, *last));
  if (!before || !last->tape.still_holds()) return nullptr;
  LOOM_TRY(const bool after, has_same_mounts(session, survey, *last));
  return after ? last->facts : nullptr;
}

Result<FactsLook> look(Session& session, const Survey& survey) {
  HostFacts facts = session.facts();
  facts.paths.reserve(survey.paths.size());
  host::PathSurveyor surveyor;
  for (const SurveyPath& wanted : survey.paths) {
    facts.paths.push_back(surveyor.look(wanted.path));
  }
  std::vector<DirectoryFact> more;
  if (survey.needs_mounts) {
    LOOM_TRY(more, gather_mounts(session, survey, facts, surveyor));
  }
  facts.directories = surveyor.directories();
  if (!more.empty()) add_missing(std::move(more), facts.directories);
  return FactsLook{.survey = survey,
                   .known_before = session.facts(),
                   .mount_readings = session.mount_readings(),
                   .tape = surveyor.take_tape(),
                   .facts = std::make_shared<const HostFacts>(std::move(facts))};
}

}  // namespace

Result<std::shared_ptr<const HostFacts>> gather_facts(Session& session, const Survey& survey) {
  LOOM_TRY(std::shared_ptr<const HostFacts> same, look_once_more(session, survey));
  if (same) return same;
  LOOM_TRY(FactsLook found, look(session, survey));
  std::shared_ptr<const HostFacts> facts = found.facts;
  session.last_look().facts.reset();
  if (found.tape.may_hold()) session.last_look().facts = std::move(found);
  return facts;
}

}  // namespace loom::app
