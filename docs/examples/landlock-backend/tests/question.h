#pragma once

#include <loom/plan.h>

#include <string>

namespace landlock {

inline constexpr std::uint32_t kAbi = 7;

[[nodiscard]] loom::AbsolutePath path(const std::string& text);

// A question about a workspace /ws on a machine with /usr, /etc, /proc and devices, in which
// everything that the policy names is there. What is asked besides is added by the test, and then
// look() once more.
struct Question {
  loom::PlanRequest request{};

  Question();
  // Makes the facts fit the policy: each path is a directory with an identity of its own, but for
  // those that `change` says otherwise about.
  void look();
  // The fact about one path, to be changed after look().
  [[nodiscard]] loom::PathFact& fact(const std::string& text);
  // Of a kernel with this much.
  void kernel(std::uint32_t abi, bool seccomp = true);
};

}  // namespace landlock
