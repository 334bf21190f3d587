#pragma once

#include <span>
#include <string>

#include "linux_launch.h"
#include "mac_launch.h"
#include "policy_case.h"

namespace loom::seatbelt::test {

// One question that the two platforms answer differently.
struct Difference {
  const PolicyCase& one;
  const LinuxLaunch& linux;
  const MacLaunch& mac;
  Deed deed = Deed::kRead;
  std::string path{};
  bool on_linux = false;  // it may be done there
  Landing linux_landing{};
  Landing mac_landing{};
};

// A difference that is meant, or that cannot be helped.
struct Declared {
  const char* name;
  const char* reason;
  bool (*explains)(const Difference&);
};
[[nodiscard]] std::span<const Declared> declared_differences();

// A policy that one platform refuses and the other carries out.
struct Refused {
  const PolicyCase& one;
  const LinuxLaunch& linux;
  const MacLaunch& mac;

  [[nodiscard]] bool on_linux() const { return !linux.refusal().empty(); }
  [[nodiscard]] const std::string& why() const {
    return on_linux() ? linux.refusal() : mac.refusal();
  }
};
struct DeclaredRefusal {
  const char* name;
  const char* reason;
  bool (*explains)(const Refused&);
};
[[nodiscard]] std::span<const DeclaredRefusal> declared_refusals();

// What a profile decides besides the plan's own view, which knows names only as they are stored.
struct Detail {
  const PolicyCase& one;
  const MacLaunch& mac;
  Operation operation = Operation::kReadData;
  std::string real{};
  Answer answer = Answer::kDenied;
};
struct DeclaredDetail {
  const char* name;
  const char* reason;
  bool (*explains)(const Detail&);
};
[[nodiscard]] std::span<const DeclaredDetail> declared_details();

// Every path that a policy names.
[[nodiscard]] std::vector<std::string> policy_paths(const Policy& policy);

}  // namespace loom::seatbelt::test
