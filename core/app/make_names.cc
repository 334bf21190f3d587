#include "app/make_names.h"

#include <loom/utf8.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace loom::app {
namespace {

// Of a directory that is there and no placeholder.
const DirectoryFact* find_directory(const HostFacts& facts, const AbsolutePath& path) {
  const auto at = std::lower_bound(
      facts.directories.begin(), facts.directories.end(), path,
      [](const DirectoryFact& fact, const AbsolutePath& wanted) { return fact.path < wanted; });
  return at != facts.directories.end() && at->path == path ? &*at : nullptr;
}

// `before`: the names that are made before this one.
Result<host::WantedName> wanted_name(const MadeName& name, const std::set<AbsolutePath>& before,
                                     const HostFacts& facts) {
  host::WantedName wanted{.path = name.path, .intermediate = name.intermediate};
  const AbsolutePath above = name.path.parent();
  if (before.contains(above)) return wanted;
  const DirectoryFact* const directory = find_directory(facts, above);
  if (directory == nullptr) {
    return fail(ErrorCode::kBackend, "plan: " + escaped(name.path.str()) +
                                         " is to be made in a directory that is not there");
  }
  wanted.parent = directory->identity;
  return wanted;
}

// The identity of what stands where nothing is, as far as a policy is concerned.
std::map<AbsolutePath, FileIdentity> placeholders(const HostFacts& facts) {
  std::map<AbsolutePath, FileIdentity> known;
  for (const DirectoryFact& fact : facts.directories) {
    if (fact.placeholder) known.emplace(fact.path, fact.identity);
  }
  for (const PathFact& fact : facts.paths) {
    if (fact.kind == PathKind::kMissing && fact.identity != FileIdentity{}) {
      known.emplace(fact.real, fact.identity);
    }
  }
  return known;
}

}  // namespace

Result<host::MadeNames> make_names(Session& session, const std::vector<MadeName>& names,
                                   const HostFacts& facts) {
  std::vector<host::WantedName> wanted;
  std::set<AbsolutePath> before;
  for (const MadeName& name : names) {
    LOOM_TRY(host::WantedName next, wanted_name(name, before, facts));
    before.insert(name.path);
    wanted.push_back(std::move(next));
  }
  return session.make_names(wanted);
}

bool shows_made_names(const HostFacts& facts, const std::vector<MadeName>& names,
                      const std::vector<FileIdentity>& made) {
  const std::map<AbsolutePath, FileIdentity> known = placeholders(facts);
  if (made.size() != names.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = known.find(names[i].path);
    if (found == known.end() || found->second != made[i]) return false;
  }
  return true;
}

}  // namespace loom::app
