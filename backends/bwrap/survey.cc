#include "survey.h"

#include <loom/check.h>

#include "list_features.h"
#include "system_roots.h"

namespace loom::bwrap {
namespace {

void ask_for(Survey& survey, const std::vector<AbsolutePath>& paths, PathRole role) {
  for (const AbsolutePath& path : paths) survey.paths.push_back({.path = path, .role = role});
}

// Regions the command can write, by their text: a program planted there must not be found by name.
std::vector<AbsolutePath> writable_places(const Policy& policy) {
  std::vector<AbsolutePath> places = policy.writable_roots;
  places.push_back(policy.scratch.host_path.value_or(known_path(kScratchRoot)));
  for (const ExplicitMount& mount : policy.mounts) {
    if (mount.writable) places.push_back(mount.path);
  }
  return places;
}

// LOOM_SCRATCH_DIR. A tmpfs needs bubblewrap; without it the command has no scratch of its own.
std::optional<std::string> scratch_dir(const Scratch& scratch, bool jailed) {
  if (!scratch.is_tmpfs())
    return scratch.written.empty() ? scratch.host_path->str() : scratch.written;
  if (jailed) return std::string(kScratchRoot);
  return std::nullopt;
}

}  // namespace

AbsolutePath known_path(std::string_view text) {
  auto parsed = AbsolutePath::parse(text);
  LOOM_CHECK(parsed.has_value());
  return *std::move(parsed);
}

Survey survey(const SurveyRequest& request) {
  const Policy& policy = request.policy;
  Survey survey;
  for (const std::string_view root : kSystemRoots) {
    survey.paths.push_back({.path = known_path(root), .role = PathRole::kSystemRoot});
  }
  ask_for(survey, policy.readable_roots, PathRole::kReadableRoot);
  ask_for(survey, policy.writable_roots, PathRole::kWritableRoot);
  ask_for(survey, policy.protected_paths, PathRole::kProtected);
  for (const ExplicitMount& mount : policy.mounts) {
    survey.paths.push_back({.path = mount.path, .role = PathRole::kMount});
  }
  survey.paths.push_back({.path = policy.scratch.host_path.value_or(known_path(kScratchRoot)),
                          .role = PathRole::kScratch});
  const bool jailed = has_jail(request.facts);
  survey.needs_mounts = jailed && !policy.protected_paths.empty();
  survey.search_excluded = writable_places(policy);
  survey.scratch_dir = scratch_dir(policy.scratch, jailed);
  return survey;
}

}  // namespace loom::bwrap
