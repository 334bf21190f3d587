#include "survey.h"

#include <string>

#include "machine.h"
#include "platform.h"

namespace loom::seatbelt {
namespace {

void ask_for(Survey& survey, const std::vector<AbsolutePath>& paths, PathRole role) {
  for (const AbsolutePath& path : paths) survey.paths.push_back({.path = path, .role = role});
}

void ask_for_pieces(Survey& survey, const HostFacts& facts,
                    const std::vector<AbsolutePath>& directories) {
  ask_for(survey, directories, PathRole::kPiece);
  const auto stage2 = AbsolutePath::parse(facts.stage2.path);
  if (facts.stage2.present && stage2) {
    survey.paths.push_back({.path = *stage2, .role = PathRole::kPiece});
  }
}

// What the command can write, but the private scratch, which the host adds: a program planted there
// must not be found by name.
std::vector<AbsolutePath> writable_places(const Policy& policy,
                                          const std::vector<AbsolutePath>& user_directories) {
  std::vector<AbsolutePath> places = policy.writable_roots;
  if (policy.scratch.host_path) places.push_back(*policy.scratch.host_path);
  places.insert(places.end(), user_directories.begin(), user_directories.end());
  for (const ExplicitMount& mount : policy.mounts) {
    if (mount.writable) places.push_back(mount.path);
  }
  return places;
}

}  // namespace

Result<Survey> survey(const SurveyRequest& request) {
  LOOM_TRY(const MachineFacts machine, decode_machine_facts(request.facts.backend));
  std::vector<AbsolutePath> user_directories;
  for (const std::string& text : machine.user_directories) {
    LOOM_TRY(AbsolutePath directory, AbsolutePath::parse(text));
    user_directories.push_back(std::move(directory));
  }
  const Policy& policy = request.policy;
  Survey survey;
  for (const std::string_view root : kSystemView) {
    survey.paths.push_back({.path = known_path(root), .role = PathRole::kSystemRoot});
  }
  ask_for(survey, policy.readable_roots, PathRole::kReadableRoot);
  ask_for(survey, policy.writable_roots, PathRole::kWritableRoot);
  ask_for(survey, policy.protected_paths, PathRole::kProtected);
  for (const ExplicitMount& mount : policy.mounts) {
    survey.paths.push_back({.path = mount.path, .role = PathRole::kMount});
  }
  const Scratch& scratch = policy.scratch;
  if (scratch.host_path) {
    survey.paths.push_back({.path = *scratch.host_path, .role = PathRole::kScratch});
    survey.scratch_dir = scratch.written.empty() ? scratch.host_path->str() : scratch.written;
  } else if (request.facts.launcher.present) {  // without one nothing runs, and plan says so
    survey.private_scratch =
        PrivateScratch{.parent = known_path(kScratchParent), .prefix = std::string(kScratchPrefix)};
  }
  ask_for_pieces(survey, request.facts, user_directories);
  survey.search_excluded = writable_places(policy, user_directories);
  return survey;
}

}  // namespace loom::seatbelt
