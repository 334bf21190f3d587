#pragma once

#include <loom/facts.h>
#include <loom/plan.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "identity/identity_refusal.h"

namespace loom {

enum class IdentityPlatform : std::uint8_t { kLinux, kDarwin, kOther };

// Where a publication writes, links resolved up to the workspace. What lies below the workspace is
// fixed and must not be reached through a link.
struct PublicationPlaces {
  AbsolutePath home;       // the directory
  AbsolutePath target;     // the file
  AbsolutePath temporary;  // what becomes the file
};

inline constexpr const char* kGitconfigName = "gitconfig";

// Takes WORKSPACE as written: absolute, without a ".." segment.
[[nodiscard]] IdentityResult<AbsolutePath> parse_workspace(std::string_view text);

// `workspace` with its links resolved; `temporary_name` is a single component.
[[nodiscard]] PublicationPlaces publication_places(const AbsolutePath& workspace,
                                                   std::string_view temporary_name);

// What a policy says about this machine's files.
struct PublicationGrounds {
  std::vector<PathFact> protected_paths{};  // every protected entry, existing or not
  std::vector<PathFact> mounts{};           // every explicit mount
  std::vector<MountOperation> view{};       // of the backend's plan for this policy
  bool scratch_is_tmpfs = true;
};

// Whether a command under the policy could write the same file itself, which is what lets the
// helper write it. The view's last operation that covers a path decides, as in the jail; protected
// paths hold by name, written or resolved, in both directions.
[[nodiscard]] IdentityResult<void> admit_publication(const PublicationPlaces& places,
                                                     const PublicationGrounds& grounds,
                                                     IdentityPlatform platform);

// Security: whether none of the directories that were walked through is a protected one under
// another name. A directory has one parent, so that means a bind mount, or a rename after the facts
// were gathered.
[[nodiscard]] IdentityResult<void> admit_directories(const std::vector<FileIdentity>& walked,
                                                     const std::vector<PathFact>& protected_paths);

}  // namespace loom
