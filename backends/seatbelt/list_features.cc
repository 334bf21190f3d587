#include "list_features.h"

#include <string>

#include "platform.h"

namespace loom::seatbelt {

Features list_features(const HostFacts& facts) {
  Features found;
  found.tags = {"rlimits", "pgroup"};
  found.degraded = !facts.launcher.present;
  found.tags.emplace_back(found.degraded ? "degraded" : "seatbelt");
  if (found.degraded) {
    found.absent.push_back(
        {.tag = "seatbelt", .reason = std::string(kLauncher) + ": " + facts.launcher.reason});
  }
  for (const char* const tag : {"landlock", "seccomp", "cgroup-v2"}) {
    found.absent.push_back({.tag = tag, .reason = "Linux only"});
  }
  found.exec = found.degraded ? ExecSupport::kNone : ExecSupport::kRendered;
  if (!facts.stage2.present) {
    found.refusal = "stage 2 is missing, so nothing can be started: " + facts.stage2.reason;
  }
  return found;
}

}  // namespace loom::seatbelt
