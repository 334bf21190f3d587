#include "app/self_test/gates.h"

#include <cerrno>

#include "app/self_test/verdict.h"

namespace loom::app {
namespace {

constexpr const char* kNotAPass = "NOT RUN (not a pass)";

std::string display_name(std::string_view os) {
  if (os == "windows") return "Windows";
  return os.empty() ? std::string("an unknown system") : std::string(os);
}

}  // namespace

std::optional<NotRun> platform_gate(std::string_view os, bool backend_has_jail) {
  const bool jails_exist = os == "linux" || os == "darwin";
  if (backend_has_jail && jails_exist) return std::nullopt;
  const std::string name = jails_exist ? "the backend in use" : display_name(os);
  return NotRun{.reason = "no jail is built for " + name,
                .remark = "nothing was attempted on " + name + ": there is no layer to probe",
                .result = "UNSUPPORTED PLATFORM (no jail for " + name + "; not a pass)"};
}

std::string_view namespace_token(NamespaceAnswer answer) noexcept {
  switch (answer) {
    case NamespaceAnswer::kMade:
      return "namespace-made";
    case NamespaceAnswer::kRefusedByFilter:
      return "namespace-denied-filter";
    case NamespaceAnswer::kRefusedByDomain:
      return "namespace-denied-domain";
    case NamespaceAnswer::kRefusedOtherwise:
      return "namespace-error";
  }
  return "namespace-error";
}

NamespaceAnswer parse_namespace_token(std::string_view output) {
  for (const auto answer : {NamespaceAnswer::kMade, NamespaceAnswer::kRefusedByFilter,
                            NamespaceAnswer::kRefusedByDomain}) {
    if (has_line(output, namespace_token(answer))) return answer;
  }
  return NamespaceAnswer::kRefusedOtherwise;
}

bool says_already_profiled(std::string_view problem) noexcept {
  return problem.starts_with("spawn: already_profiled: ");
}

std::optional<NotRun> nested_gate(const LaunchTrial& trial) {
  if (!trial.launcher_installed || trial.jailed) return std::nullopt;
  std::string cause;
  if (trial.already_profiled) {
    cause = "a Seatbelt profile that this process inherited admits no other";
  } else if (trial.namespaces == NamespaceAnswer::kRefusedByFilter) {
    cause = "a system-call filter that this process inherited refuses user namespaces";
  } else if (trial.namespaces == NamespaceAnswer::kRefusedByDomain) {
    cause = "a Landlock domain that this process inherited refuses mounts in a user namespace";
  } else {
    return std::nullopt;
  }
  return NotRun{.reason = "inside a jail already: " + cause,
                .remark = "nothing was attempted: no jail can be made here (" + trial.problem + ")",
                .result = kNotAPass};
}

std::optional<NotRun> root_gate(int error, std::string_view place) {
  if (error != EPERM && error != EACCES) return std::nullopt;
  return NotRun{.reason = "no probe directory may be made in " + std::string(place) +
                          "; this process is probably inside a sandbox already",
                .remark = "nothing was attempted: there is no place for a fixture",
                .result = kNotAPass};
}

}  // namespace loom::app
