#include "identity/identity_refusal.h"

namespace loom {

std::string_view refusal_text(IdentityRefusal refusal) noexcept {
  switch (refusal) {
    case IdentityRefusal::kPlatform:
      return "a git identity is published on Linux and macOS only";
    case IdentityRefusal::kOperands:
      return "exactly three operands are due: policy, workspace, entries";
    case IdentityRefusal::kPolicyTooLong:
      return "the policy is longer than 1398104 characters";
    case IdentityRefusal::kPolicyNotBase64:
      return "the policy is not padded standard base64 of at most 1 MiB";
    case IdentityRefusal::kPolicyInvalid:
      return "the policy document is not valid";
    case IdentityRefusal::kPolicyParentSegment:
      return "a path of the policy has a parent segment";
    case IdentityRefusal::kWorkspaceForm:
      return "the workspace is not an absolute path without parent segments";
    case IdentityRefusal::kWorkspaceMissing:
      return "the workspace is not an existing directory";
    case IdentityRefusal::kEntriesTooLong:
      return "the entries are longer than 65536 bytes";
    case IdentityRefusal::kEntriesNotUtf8:
      return "the entries are not valid UTF-8";
    case IdentityRefusal::kEntriesForm:
      return "the entries are not one JSON array of pairs of strings";
    case IdentityRefusal::kEntryKey:
      return "an entry has a key other than the two that are published";
    case IdentityRefusal::kEntryNul:
      return "an entry has a NUL in its value";
    case IdentityRefusal::kFileTooLong:
      return "the file would be longer than 65536 bytes";
    case IdentityRefusal::kFileOverPolicyLimit:
      return "the file would be longer than the policy lets a file become";
    case IdentityRefusal::kBackend:
      return "the backend of this platform cannot be used";
    case IdentityRefusal::kNoPlan:
      return "no jail can be planned for the policy on this machine";
    case IdentityRefusal::kProtected:
      return "a protected path covers the file, or leads through it or to it";
    case IdentityRefusal::kMountAtFile:
      return "a mount of the policy names the file itself";
    case IdentityRefusal::kNotWritable:
      return "the policy does not let the file be written in its directory";
    case IdentityRefusal::kInPrivateScratch:
      return "the directory of the file lies under the private scratch of the jail";
    case IdentityRefusal::kHomeMissing:
      return "the directory of the file does not exist";
    case IdentityRefusal::kHomeThroughLink:
      return "a component of the directory of the file is a link or no directory";
    case IdentityRefusal::kHomeUnusable:
      return "the directory of the file cannot be opened";
    case IdentityRefusal::kRandomness:
      return "no random name could be made for the temporary file";
    case IdentityRefusal::kCreate:
      return "the temporary file cannot be created";
    case IdentityRefusal::kWrite:
      return "the temporary file cannot be written";
    case IdentityRefusal::kReplace:
      return "the temporary file cannot be put in the place of the file";
  }
  return "the git identity is not published";
}

}  // namespace loom
