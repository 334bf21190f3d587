#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

namespace loom {

// Why a git identity is not published (docs/git-identity.md lists the texts). One reason a refusal,
// the first that applies.
enum class IdentityRefusal : std::uint8_t {
  kPlatform,
  kOperands,
  kPolicyTooLong,
  kPolicyNotBase64,
  kPolicyInvalid,
  kPolicyParentSegment,
  kWorkspaceForm,
  kWorkspaceMissing,
  kEntriesTooLong,
  kEntriesNotUtf8,
  kEntriesForm,
  kEntryKey,
  kEntryNul,
  kFileTooLong,
  kFileOverPolicyLimit,
  kBackend,
  kNoPlan,
  kProtected,
  kMountAtFile,
  kNotWritable,
  kInPrivateScratch,
  kHomeMissing,
  kHomeThroughLink,
  kHomeUnusable,
  kRandomness,
  kCreate,
  kWrite,
  kReplace,
};

// The fixed text of a reason. Security: a constant, so nothing of a policy, a path, an entry or an
// identity can reach whoever reads the refusal. Printable ASCII; with "loom-exec: " in front it
// stays below the 160 characters that the client shows (docs/wire.md 13.3).
[[nodiscard]] std::string_view refusal_text(IdentityRefusal refusal) noexcept;

// A T or the reason there is none. Not a Result: an Error's message may quote its input.
template <class T>
using IdentityResult = tl::expected<T, IdentityRefusal>;

}  // namespace loom
