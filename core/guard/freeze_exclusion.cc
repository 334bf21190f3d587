#include "guard/freeze_exclusion.h"

#include <loom/check.h>

#include <string>
#include <utility>

namespace loom::guard {
namespace {

std::optional<FileIdentity> known(const FileIdentity& identity) {
  return identity == FileIdentity{} ? std::nullopt : std::optional(identity);
}

std::vector<FileIdentity> identities_of(const std::vector<DirectoryFact>& directories) {
  std::vector<FileIdentity> identities;
  identities.reserve(directories.size() + 1);
  for (const DirectoryFact& directory : directories) identities.push_back(directory.identity);
  return identities;
}

law::Place place_of(const Frozen& frozen) {
  const PathFact& fact = frozen.fact;
  law::Place place{.real = fact.real,
                   .parent = known(fact.parent_identity),
                   .above = identities_of(frozen.directories)};
  if (fact.kind == PathKind::kDirectory) place.directory = fact.identity;
  return place;
}

AbsolutePath inside(const AbsolutePath& directory, std::string_view name) {
  auto path = AbsolutePath::parse(directory.str() + '/' + std::string(name));
  LOOM_CHECK(path.has_value());  // of two paths
  return *std::move(path);
}

law::Place place_of_name(const AbsolutePath& written) {
  const Frozen parent = freeze(written.parent());
  law::Place place{.real = inside(parent.fact.real, written.name()),
                   .above = identities_of(parent.directories)};
  if (parent.fact.kind == PathKind::kDirectory) {
    place.parent = parent.fact.identity;
    place.above.push_back(parent.fact.identity);
  }
  return place;
}

}  // namespace

FrozenExclusion freeze_exclusion(const AbsolutePath& written) {
  Frozen frozen = freeze(written);
  law::Place place = place_of(frozen);
  std::optional<law::Place> name;
  if (!frozen.fact.links.empty() && !written.is_root()) name = place_of_name(written);
  if (name && name->real == place.real) name.reset();
  return {.frozen = std::move(frozen), .place = std::move(place), .name = std::move(name)};
}

}  // namespace loom::guard
