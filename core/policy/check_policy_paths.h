#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace loom {

// One path of a policy document. `written` is borrowed from the document and is what messages
// quote; `path` is what is compared.
struct PolicyPath {
  std::string_view written;
  AbsolutePath path;
};

struct PolicyMountPath {
  PolicyPath where;
  bool writable = false;
};

struct PolicyPaths {
  std::vector<PolicyPath> writable_roots;
  std::vector<PolicyPath> protected_paths;
  std::vector<PolicyMountPath> mounts;
};

// Rows 29 to 33 of docs/policy.md 3: the form of mount paths, then the clashes between lists.
// Clashes are judged on cleaned paths, which can only refuse more than the text alone. Linear in
// the number of paths but for one sort, so that a hostile document cannot buy time.
[[nodiscard]] Result<void> check_policy_paths(const PolicyPaths& paths);

// Row 50: what may run must be readable, so an allowed path that is protected, or lies under a
// protected one, can never be live.
[[nodiscard]] Result<void> check_allowed_paths(const std::vector<PolicyPath>& allowed,
                                               const std::vector<PolicyPath>& protected_paths);

// `text` in quotes, safe to show.
[[nodiscard]] std::string quoted(std::string_view text);
// "policy: " in front, kInvalidRequest.
[[nodiscard]] tl::unexpected<Error> refuse_policy(std::string message);

}  // namespace loom
