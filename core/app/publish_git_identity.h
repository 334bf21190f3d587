#pragma once

namespace loom::app {

// `loom-exec --publish-git-identity POLICY_BASE64 WORKSPACE ENTRIES_JSON`: writes one fixed file in
// the workspace if a command under the policy could write it itself (docs/git-identity.md). Runs no
// program and makes no directory.
//
// `argc` and `argv` hold what follows the option. Returns the exit status: 0 without a word, or 1
// after one line with a fixed reason on stdout and on stderr.
[[nodiscard]] int publish_git_identity(int argc, const char* const* argv);

}  // namespace loom::app
