#include "guard/subject_of.h"

#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

std::optional<FileIdentity> parent_of(const Landing& landing) {
  struct stat about {};
  if (landing.parent() < 0 || ::fstat(landing.parent(), &about) != 0) return std::nullopt;
  return identity_of(about);
}

law::Subject make(bool directory, const AbsolutePath& real, law::Passage passage) {
  return directory ? law::Subject::inside(real, std::move(passage))
                   : law::Subject::file(real, std::move(passage));
}

}  // namespace

law::Subject subject_of(const Landing& landing) {
  const bool directory = landing.kind() == ObjectKind::kDirectory;
  law::Passage passage{.passed = landing.passed(), .parent = parent_of(landing)};
  if (directory) passage.directory = landing.identity();
  return make(directory, landing.real(), std::move(passage));
}

law::Subject subject_of(const Frozen& frozen) {
  const PathFact& fact = frozen.fact;
  const bool directory = fact.kind == PathKind::kDirectory;
  law::Passage passage;
  for (const DirectoryFact& above : frozen.directories) passage.passed.push_back(above.identity);
  if (fact.parent_identity != FileIdentity{}) passage.parent = fact.parent_identity;
  if (directory) passage.directory = fact.identity;
  return make(directory, fact.real, std::move(passage));
}

}  // namespace loom::guard
