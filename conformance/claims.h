#pragma once

#include <loom/policy.h>

#include <string>
#include <vector>

#include "jail_run.h"

namespace loom::conformance {

// What a command is asked so that it shows whether the claims of its report are true: what the
// policy forbids it, and what of outside it must not reach.
struct ClaimTrial {
  std::string masked{};   // a protected path with something in it
  std::string process{};  // the pid of a process outside
  std::string socket{};   // the name of an abstract socket outside

  // Of the policy under which it runs.
  static constexpr std::uint64_t kCpuSeconds = 50;
  static constexpr std::uint64_t kFileBytes = 1U << 20U;
  static constexpr std::uint64_t kProcesses = 24;

  [[nodiscard]] std::vector<std::string> operations() const;  // of the probe
};

// A claim that the command did not meet is a finding; what nothing probes is a remark.
void judge_claims(const JailRun& run, const ClaimTrial& trial, Judgement& judgement);

}  // namespace loom::conformance
