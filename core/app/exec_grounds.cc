#include "app/exec_grounds.h"

#include <loom/other_names.h>

#include <algorithm>
#include <utility>

#include "environment/build_environment.h"
#include "guard/overlap.h"
#include "host/path_survey.h"

namespace loom::app {
namespace {

void add_once(std::vector<AbsolutePath>& paths, AbsolutePath path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
}

AbsolutePath known(std::string_view text) { return AbsolutePath::parse(text).value(); }

std::vector<AbsolutePath> writable_reals(const Survey& survey, host::PathSurveyor& surveyor) {
  std::vector<AbsolutePath> reals;
  for (const AbsolutePath& region : survey.search_excluded) {
    reals.push_back(surveyor.look(region).real);
  }
  return reals;
}

void add_count(std::vector<std::string>& entries, std::string_view name, std::size_t count) {
  if (count > 0) entries.push_back(std::string(name) + "=" + std::to_string(count));
}

}  // namespace

guard::SearchPath search_path_of(std::string_view requested, std::string_view inherited,
                                 const Survey& survey, const guard::FreezeGrounds& grounds) {
  host::PathSurveyor surveyor;
  std::vector<AbsolutePath> writable = writable_reals(survey, surveyor);
  for (const AbsolutePath& region : grounds.written_before) {
    writable.push_back(surveyor.look(region).real);
  }
  const std::vector<MountFact> none;
  const MountNames names(grounds.mounts != nullptr ? *grounds.mounts : none);
  std::vector<AbsolutePath> floor;
  for (const AbsolutePath& root : grounds.floor) floor.push_back(surveyor.look(root).real);
  // The floor stays read-only inside a region that is wider.
  const auto is_within_writable = [&](const AbsolutePath& place) {
    return std::any_of(writable.begin(), writable.end(), [&](const AbsolutePath& region) {
      if (!place.is_within(region)) return false;
      return std::none_of(floor.begin(), floor.end(), [&](const AbsolutePath& root) {
        return place.is_within(root) && root != region && root.is_within(region);
      });
    });
  };
  const auto is_writable = [&](const AbsolutePath& place) {
    const std::vector<OtherName> others = names.of(place);
    return is_within_writable(place) ||
           std::any_of(others.begin(), others.end(), [&](const OtherName& other) {
             return !other.part && is_within_writable(other.path);
           });
  };
  const auto add = [&](std::vector<AbsolutePath>& directories, const AbsolutePath& candidate) {
    const PathFact fact = surveyor.look(candidate);
    const bool plantable =
        is_writable(fact.real) ||
        std::any_of(fact.links.begin(), fact.links.end(),
                    [&](const LinkFact& link) { return is_writable(link.place); });
    if (fact.kind == PathKind::kDirectory && !plantable) add_once(directories, fact.real);
  };
  guard::SearchPath search;
  for (const AbsolutePath& directory : path_candidates("", inherited, survey.search_excluded)) {
    add(search.own, directory);
  }
  for (const std::string_view each : kPathFloor) add(search.own, known(each));
  for (const AbsolutePath& directory : path_candidates(requested, "", survey.search_excluded)) {
    add(search.all, directory);
  }
  for (const AbsolutePath& directory : search.own) add_once(search.all, directory);
  return search;
}

std::vector<AbsolutePath> floor_of(const Survey& survey) {
  std::vector<AbsolutePath> floor;
  for (const SurveyPath& surveyed : survey.paths) {
    if (surveyed.role == PathRole::kSystemRoot) add_once(floor, surveyed.path);
  }
  return floor;
}

Result<std::vector<MountFact>> mounts_to_freeze_by(Session& session, const Survey& survey,
                                                   const std::vector<AbsolutePath>& besides,
                                                   const ExecInForce& exec) {
  host::PathSurveyor surveyor;
  std::vector<AbsolutePath> places = writable_reals(survey, surveyor);
  for (const AbsolutePath& region : besides) places.push_back(surveyor.look(region).real);
  for (const ExecLayer& layer : exec.layers) {
    for (const ExecEntry& entry : layer.table.deny) {
      if (entry.kind == ExecEntryKind::kName) {
        for (const std::string_view floor : kPathFloor) places.push_back(known(floor));
      } else {
        places.push_back(surveyor.look(known(entry.value)).real);
      }
    }
  }
  if (places.empty()) return std::vector<MountFact>();
  LOOM_TRY(const host::ReachableMounts* const mounts, session.mounts());
  return mounts->that_may_show_again(places);
}

guard::ShownView shown_view_of(const JailPlan& plan, const Survey& survey, const HostFacts& facts,
                               const std::vector<MountFact>& mounts) {
  guard::ShownView shown{.view = &plan.view,
                         .floor = {},
                         .mounts = &mounts,
                         .programs = guard::program_rules(facts.os, facts.machine)};
  for (std::size_t i = 0; i < survey.paths.size(); ++i) {
    if (survey.paths[i].role != PathRole::kSystemRoot) continue;
    add_once(shown.floor, survey.paths[i].path);
    add_once(shown.floor, facts.paths[i].real);
  }
  return shown;
}

Result<std::vector<MountFact>> mounts_that_matter(Session& session,
                                                  const guard::Snapshot& snapshot) {
  std::vector<AbsolutePath> places;
  const auto add = [&places](const law::Exclusion& exclusion) {
    if (exclusion.place()) places.push_back(exclusion.place()->real);
  };
  for (const law::Exclusion& exclusion : snapshot.exec().exclusions()) add(exclusion);
  for (const law::Exclusion& exclusion : snapshot.protected_paths()) add(exclusion);
  for (const guard::PolicyRegion& region : snapshot.regions()) places.push_back(region.real);
  if (places.empty()) return std::vector<MountFact>();
  LOOM_TRY(const host::ReachableMounts* const mounts, session.mounts());
  return mounts->that_may_show_again(places);
}

std::vector<std::string> describe_entries(const guard::Guard& guard,
                                          const guard::ShownView& shown) {
  const guard::ExecCounts& counts = guard.snapshot().counts();
  std::vector<std::string> entries;
  add_count(entries, "exec-dropped", counts.dropped);
  add_count(entries, "exec-dead", counts.dead);
  if (guard.snapshot().exec().is_restrictive()) {
    add_count(entries, "exec-writable", guard::exec_writable(guard.snapshot(), shown));
  }
  add_count(entries, "exec-links", counts.links);
  return entries;
}

}  // namespace loom::app
