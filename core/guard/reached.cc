#include "guard/reached.h"

#include <loom/check.h>

#include <string>
#include <utility>

#include "guard/file_system.h"
#include "guard/path_walk.h"

namespace loom::guard {
namespace {

AbsolutePath parse_real(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // made of names, which hold no NUL
  return *std::move(path);
}

law::Subject subject_of(AbsolutePath real, law::Passage passage, const struct stat& about) {
  if (!S_ISDIR(about.st_mode)) return law::Subject::file(std::move(real), std::move(passage));
  passage.directory = identity_of(about);
  return law::Subject::inside(std::move(real), std::move(passage));
}

Reached reached_by(PathWalk& walk) {
  std::vector<PathWalk::Directory>& stack = walk.stack();
  law::Passage passage{.passed = std::move(walk.passed())};
  if (walk.landed_on_directory()) {
    PathWalk::Directory& last = stack.back();
    return {.subject = subject_of(parse_real(walk.real_text()), std::move(passage), last.about),
            .handle = std::move(last.handle),
            .about = last.about};
  }
  passage.parent = identity_of(stack.back().about);
  const AbsolutePath real = parse_real(walk.real_text() + '/' + walk.component());
  return {.subject = subject_of(real, std::move(passage), walk.object_status()),
          .handle = std::move(walk.object()),
          .about = walk.object_status()};
}

}  // namespace

WalkResult<std::optional<Reached>> reach(const AbsolutePath& path, LinksOnTheWay links) {
  PathWalk walk({.leaf = LeafMode::kResolve,
                 .refuse_links = links == LinksOnTheWay::kRefused,
                 .enter_automounts = true});
  const auto landed = walk.run(path.str());
  if (!landed) {
    const WalkFailure why = landed.error().reason;
    const bool absent = why == WalkFailure::kMissing || why == WalkFailure::kNotADirectory;
    if (absent) return std::optional<Reached>();
    return tl::unexpected(landed.error());
  }
  if (!walk.landed_on_directory() && !walk.landed_on_object()) return std::optional<Reached>();
  return std::optional(reached_by(walk));
}

Reached reached_in(const law::Subject& directory, const char* name, UniqueFd handle,
                   const struct stat& about) {
  const std::string& above = directory.real().str();
  law::Passage passage{.passed = directory.passage().passed,
                       .parent = directory.passage().directory};
  if (S_ISDIR(about.st_mode)) passage.passed.push_back(identity_of(about));
  AbsolutePath real = parse_real((above == "/" ? above : above + '/') + name);
  return {.subject = subject_of(std::move(real), std::move(passage), about),
          .handle = std::move(handle),
          .about = about};
}

}  // namespace loom::guard
