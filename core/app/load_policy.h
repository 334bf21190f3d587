#pragma once

#include <loom/policy.h>
#include <loom/result.h>

#include <string>

namespace loom::app {

// Reads a policy document from a file: msgpack, or JSON with the same keys (told apart by the first
// byte that is not white space). At most 1 MiB. The same rules hold for both forms; duplicate keys
// included.
[[nodiscard]] Result<Policy> load_policy(const std::string& file);

}  // namespace loom::app
