#pragma once

#include <loom/policy.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom {

// One author's exec table. Layer 0 is the base policy's, 1 that of the policy that came with a
// start.
struct ExecLayer {
  std::size_t layer = 0;
  ExecPolicy table{};
  friend bool operator==(const ExecLayer&, const ExecLayer&) = default;
};

// What a launch's policies say together about running programs. The base policy's table is a
// ceiling: each layer can only take away.
struct ExecInForce {
  // Of the launch: 3 when either document is.
  std::uint32_t version = 2;
  std::vector<ExecLayer> layers{};  // those that have an opinion
  // Of all layers; what an absent opinion means where there are none.
  bool system_support = true;
  bool memfd_noexec = false;
  bool required = false;
  friend bool operator==(const ExecInForce&, const ExecInForce&) = default;
};

// `inline_policy`: null when the base policy itself is in force.
[[nodiscard]] ExecInForce exec_in_force(const Policy& base, const Policy* inline_policy);

}  // namespace loom
