#pragma once

#include <loom/policy.h>

#include <cstddef>
#include <string>
#include <vector>

#include "exec_part.h"
#include "layers.h"
#include "resolve.h"

namespace loom::seatbelt {

// What the launcher is given. Security: no path of a policy or of the machine stands in the text,
// whose language cannot quote; it names parameters.
struct Profile {
  std::string text{};
  std::vector<std::string> definitions{};  // "NAME=path", in the order of their use
};

// What a profile is made of besides the layers.
struct ProfileGrounds {
  const ResolvedPolicy* policy = nullptr;
  const Layers* layers = nullptr;
  const ExecPart* exec = nullptr;
  NetworkMode network = NetworkMode::kOff;
  bool denies_unix_sockets = false;
};

// Both spellings of every protected path, as the policy has it and where it leads; in byte order.
[[nodiscard]] std::vector<AbsolutePath> protected_spellings(const ResolvedPolicy& policy);

// docs/seatbelt.md, "The profile", section by section.
[[nodiscard]] Profile write_profile(const ProfileGrounds& grounds);

}  // namespace loom::seatbelt
