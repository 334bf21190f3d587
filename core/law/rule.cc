#include "law/rule.h"

#include <algorithm>
#include <utility>

#include "law/name_key.h"

namespace loom::law {

std::string_view scope_name(Scope scope) noexcept {
  switch (scope) {
    case Scope::kAny:
      return "any";
    case Scope::kDirectory:
      return "dir";
    case Scope::kFile:
      return "file";
    case Scope::kName:
      return "name";
  }
  return "unknown";
}

std::string_view match_name(Match match) noexcept {
  switch (match) {
    case Match::kStored:
      return "stored";
    case Match::kFolded:
      return "folded";
    case Match::kObject:
      return "object";
  }
  return "unknown";
}

Allowance::Allowance(Scope scope, AbsolutePath real, Origin origin)
    : origin_(std::move(origin)), scope_(scope), real_(std::move(real)) {}

Allowance Allowance::any(Origin origin) {
  return {Scope::kAny, AbsolutePath::root(), std::move(origin)};
}

Allowance Allowance::directory(AbsolutePath real, Origin origin) {
  return {Scope::kDirectory, std::move(real), std::move(origin)};
}

Allowance Allowance::file(AbsolutePath real, Origin origin) {
  return {Scope::kFile, std::move(real), std::move(origin)};
}

bool Allowance::holds(const Subject& subject) const noexcept {
  switch (scope_) {
    case Scope::kAny:
      return true;
    case Scope::kDirectory:
      return subject.real().is_within(real_) && !(subject.is_file() && subject.real() == real_);
    case Scope::kFile:
      return subject.is_file() && subject.real() == real_;
    case Scope::kName:
      break;  // no allowance has it: a bare name was frozen to the file that it found
  }
  return false;
}

Subject Allowance::own_subject() const {
  return scope_ == Scope::kFile ? Subject::file(real_) : Subject::inside(real_);
}

Exclusion::Exclusion(Scope scope, Place place, Origin origin)
    : origin_(std::move(origin)),
      scope_(scope),
      place_(std::move(place)),
      folded_(FoldedPath(place_->real)) {}

Exclusion::Exclusion(std::string key, Origin origin)
    : origin_(std::move(origin)), scope_(Scope::kName), key_(std::move(key)) {}

Exclusion Exclusion::directory(Place place, Origin origin) {
  return {Scope::kDirectory, std::move(place), std::move(origin)};
}

Exclusion Exclusion::file(Place place, Origin origin) {
  return {Scope::kFile, std::move(place), std::move(origin)};
}

Exclusion Exclusion::name(std::string_view name, Origin origin) {
  return {name_key(name), std::move(origin)};
}

std::optional<Match> Exclusion::holds(const Subject& subject) const noexcept {
  if (scope_ == Scope::kDirectory) return holds_inside(subject);
  if (!subject.is_file()) return std::nullopt;
  if (scope_ == Scope::kFile) return holds_file(subject);
  return subject.folded().name() == key_ ? std::optional(Match::kStored) : std::nullopt;
}

std::optional<Match> Exclusion::holds_inside(const Subject& subject) const noexcept {
  const auto is_inside = [&](const auto& path, const auto& directory) {
    return path.is_within(directory) && !(subject.is_file() && path == directory);
  };
  if (is_inside(subject.real(), place_->real)) return Match::kStored;
  if (is_inside(subject.folded(), *folded_)) return Match::kFolded;
  if (place_->directory && subject.touched(*place_->directory)) return Match::kObject;
  return std::nullopt;
}

std::optional<Match> Exclusion::holds_file(const Subject& file) const noexcept {
  if (file.real() == place_->real) return Match::kStored;
  if (file.folded() == *folded_) return Match::kFolded;
  // Security: without this, a bind mount of the directory above gives the file a name that no rule
  // holds.
  if (place_->parent && place_->parent == file.passage().parent &&
      file.folded().name() == folded_->name()) {
    return Match::kObject;
  }
  return std::nullopt;
}

bool Exclusion::lies_beneath(const Subject& directory) const noexcept {
  if (!place_) return false;
  if (folded_->is_within(directory.folded()) && *folded_ != directory.folded()) return true;
  const std::vector<FileIdentity>& above = place_->above;
  const std::optional<FileIdentity>& itself = directory.passage().directory;
  return itself && std::find(above.begin(), above.end(), *itself) != above.end();
}

std::vector<Exclusion> exclude_both_kinds(const Place& place, const Origin& origin) {
  return {Exclusion::file(place, origin), Exclusion::directory(place, origin)};
}

std::vector<Exclusion> exclude_name(std::string_view name, const std::vector<Place>& found,
                                    const Origin& origin) {
  std::vector<Exclusion> exclusions = {Exclusion::name(name, origin)};
  for (const Place& file : found) exclusions.push_back(Exclusion::file(file, origin));
  return exclusions;
}

}  // namespace loom::law
