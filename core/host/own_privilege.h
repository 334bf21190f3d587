#pragma once

namespace loom::host {

// Whether the kernel gave this process more than its caller has, by a set-id bit or a file
// capability.
[[nodiscard]] bool has_more_privilege_than_caller() noexcept;

}  // namespace loom::host
