#include "identity/admit_publication.h"

#include <loom/check.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <string>
#include <utility>

#include "identity/decode_policy_operand.h"
#include "law/folded_path.h"

namespace loom {
namespace {

AbsolutePath below(const AbsolutePath& directory, std::string_view rest) {
  auto path = AbsolutePath::parse(directory.str() + '/' + std::string(rest));
  LOOM_CHECK(path.has_value());  // begins with '/', and neither half holds a NUL
  return *std::move(path);
}

bool overlap(const AbsolutePath& a, const AbsolutePath& b) {
  return a.is_within(b) || b.is_within(a);
}

// Whether `test` holds for a path as written, as resolved, or at a link on its way. The links count
// because a path that leads through the file itself means another object once the file is replaced.
template <class Test>
bool any_name(const PathFact& fact, Test test) {
  return test(fact.path) || test(fact.real) ||
         std::any_of(fact.links.begin(), fact.links.end(),
                     [&test](const LinkFact& link) { return test(link.place); });
}

template <class Test>
bool any_name(const std::vector<PathFact>& facts, Test test) {
  return std::any_of(facts.begin(), facts.end(),
                     [&test](const PathFact& fact) { return any_name(fact, test); });
}

bool is_granted(const std::vector<MountOperation>& view, const AbsolutePath& path) {
  const MountOperation* operation = ViewReplay(view).effective(path);
  return operation != nullptr && is_host_writable(operation->mount_class);
}

// On Linux a tmpfs scratch is the jail's own /tmp. A root below it is bound over it, but there only
// an explicit mount says that the broker meant the host's directory.
bool lies_in_private_scratch(const PublicationPlaces& places, const PublicationGrounds& grounds) {
  if (!grounds.scratch_is_tmpfs) return false;
  const bool covered = std::any_of(grounds.view.begin(), grounds.view.end(),
                                   [&places](const MountOperation& operation) {
                                     return operation.mount_class == MountClass::kScratchTmpfs &&
                                            places.home.is_within(operation.region);
                                   });
  if (!covered && !places.home.str().starts_with("/tmp/")) return false;
  const MountOperation* operation = ViewReplay(grounds.view).effective(places.home);
  return operation == nullptr || operation->mount_class != MountClass::kMountReadWrite;
}

}  // namespace

IdentityResult<AbsolutePath> parse_workspace(std::string_view text) {
  if (has_parent_segment(text)) return tl::unexpected(IdentityRefusal::kWorkspaceForm);
  auto path = AbsolutePath::parse(text);
  if (!path) return tl::unexpected(IdentityRefusal::kWorkspaceForm);
  return *std::move(path);
}

PublicationPlaces publication_places(const AbsolutePath& workspace,
                                     std::string_view temporary_name) {
  const AbsolutePath home = below(workspace, ".codemode/home");
  return {.home = home,
          .target = below(home, kGitconfigName),
          .temporary = below(home, temporary_name)};
}

namespace {

// On macOS /tmp, /var and /etc are other names of what lies in /private. Resolved paths have that
// spelling already; this is for the others.
AbsolutePath in_private(const AbsolutePath& path) {
  for (const std::string_view name : {"/tmp", "/var", "/etc"}) {
    const std::string& text = path.str();
    const bool there =
        text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '/');
    if (there) return below(AbsolutePath::root(), "private" + text);
  }
  return path;
}

// The same place for every spelling of a name that a volume of macOS takes for one.
AbsolutePath folded(const AbsolutePath& path) {
  auto keys = AbsolutePath::parse(path.is_root() ? "/" : law::FoldedPath(path).str());
  LOOM_CHECK(keys.has_value());  // no key holds a '/' or a NUL
  return *std::move(keys);
}

AbsolutePath as_stored(const AbsolutePath& path) { return path; }

using Spelling = AbsolutePath (*)(const AbsolutePath&);

std::vector<PathFact> respelled(std::vector<PathFact> facts, Spelling spelling) {
  for (PathFact& fact : facts) {
    fact.path = in_private(spelling(fact.path));
    fact.real = in_private(spelling(fact.real));
    // A place is the link itself: /tmp is not all that is in /private/tmp.
    for (LinkFact& link : fact.links) link.place = spelling(link.place);
  }
  return facts;
}

PublicationPlaces respelled(const PublicationPlaces& places, Spelling spelling) {
  return {.home = in_private(spelling(places.home)),
          .target = in_private(spelling(places.target)),
          .temporary = in_private(spelling(places.temporary))};
}

PublicationGrounds respelled(PublicationGrounds grounds, Spelling spelling) {
  grounds.protected_paths = respelled(std::move(grounds.protected_paths), spelling);
  grounds.mounts = respelled(std::move(grounds.mounts), spelling);
  for (MountOperation& operation : grounds.view) {
    operation.region = in_private(spelling(operation.region));
  }
  return grounds;
}

IdentityResult<void> admit(const PublicationPlaces& places, const PublicationGrounds& grounds,
                           IdentityPlatform platform) {
  const bool hidden = any_name(grounds.protected_paths, [&places](const AbsolutePath& path) {
    return overlap(path, places.target) || overlap(path, places.temporary);
  });
  if (hidden) return tl::unexpected(IdentityRefusal::kProtected);
  const bool mounted = any_name(grounds.mounts, [&places](const AbsolutePath& path) {
    return path == places.target || path == places.temporary;
  });
  if (mounted) return tl::unexpected(IdentityRefusal::kMountAtFile);
  if (platform == IdentityPlatform::kLinux && lies_in_private_scratch(places, grounds)) {
    return tl::unexpected(IdentityRefusal::kInPrivateScratch);
  }
  for (const AbsolutePath* path : {&places.home, &places.target, &places.temporary}) {
    if (!is_granted(grounds.view, *path)) return tl::unexpected(IdentityRefusal::kNotWritable);
  }
  return {};
}

}  // namespace

IdentityResult<void> admit_publication(const PublicationPlaces& places,
                                       const PublicationGrounds& grounds,
                                       IdentityPlatform platform) {
  if (platform == IdentityPlatform::kOther) return tl::unexpected(IdentityRefusal::kPlatform);
  if (platform != IdentityPlatform::kDarwin) return admit(places, grounds, platform);
  // As the guard reads names there: what takes away holds for every spelling, what grants for the
  // stored one.
  const auto in_any_spelling =
      admit(respelled(places, &folded), respelled(grounds, &folded), platform);
  if (!in_any_spelling) return in_any_spelling;
  return admit(respelled(places, &as_stored), respelled(grounds, &as_stored), platform);
}

IdentityResult<void> admit_directories(const std::vector<FileIdentity>& walked,
                                       const std::vector<PathFact>& protected_paths) {
  const auto is_walked = [&walked](const PathFact& fact) {
    return fact.kind == PathKind::kDirectory &&
           std::find(walked.begin(), walked.end(), fact.identity) != walked.end();
  };
  if (std::any_of(protected_paths.begin(), protected_paths.end(), is_walked)) {
    return tl::unexpected(IdentityRefusal::kProtected);
  }
  return {};
}

}  // namespace loom
