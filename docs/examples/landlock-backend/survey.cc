#include "survey.h"

#include <loom/check.h>

#include <utility>

#include "floor.h"

namespace landlock {

using loom::AbsolutePath;
using loom::PathRole;

AbsolutePath known_path(std::string_view text) {
  auto parsed = AbsolutePath::parse(text);
  LOOM_CHECK(parsed.has_value());
  return *std::move(parsed);
}

loom::Survey survey(const loom::SurveyRequest& request) {
  const loom::Policy& policy = request.policy;
  loom::Survey survey;
  const auto ask = [&survey](const AbsolutePath& path, PathRole role) {
    survey.paths.push_back({.path = path, .role = role});
  };
  for (const std::string_view root : kSystemRoots) ask(known_path(root), PathRole::kSystemRoot);
  for (const std::string_view device : kDevices) ask(known_path(device), PathRole::kSystemRoot);
  for (const AbsolutePath& path : policy.readable_roots) ask(path, PathRole::kReadableRoot);
  for (const AbsolutePath& path : policy.writable_roots) {
    ask(path, PathRole::kWritableRoot);
    survey.search_excluded.push_back(path);
  }
  for (const AbsolutePath& path : policy.protected_paths) ask(path, PathRole::kProtected);
  for (const loom::ExplicitMount& mount : policy.mounts) {
    ask(mount.path, PathRole::kMount);
    if (mount.writable) survey.search_excluded.push_back(mount.path);
  }
  if (policy.scratch.host_path) {
    ask(*policy.scratch.host_path, PathRole::kScratch);
    survey.search_excluded.push_back(*policy.scratch.host_path);
    survey.scratch_dir =
        policy.scratch.written.empty() ? policy.scratch.host_path->str() : policy.scratch.written;
  } else {
    survey.private_scratch = loom::PrivateScratch{.parent = known_path(kScratchParent),
                                                  .prefix = std::string(kScratchPrefix)};
  }
  // What is protected may have further names.
  survey.needs_mounts = !policy.protected_paths.empty();
  return survey;
}

}  // namespace landlock
