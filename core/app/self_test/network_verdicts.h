#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/self_test/probe_run.h"
#include "app/self_test/verdict.h"

namespace loom::app {

// What --probe-socket prints.
inline constexpr std::string_view kSocketCreated = "socket-created";
inline constexpr std::string_view kSocketDenied = "socket-denied-permission";

// The socket probe in a jail with the network and in one without.
struct SocketEvidence {
  ProbeRun control;
  ProbeRun test;
};
[[nodiscard]] ProbeVerdict judge_socket(const SocketEvidence& seen);

// A payload that printed its network namespace ("namespace net:[…]") and /proc/net/dev, in a jail
// with the network and in one without.
struct DeviceEvidence {
  ProbeRun control;
  ProbeRun test;
  std::string own_namespace;  // the helper's: "net:[…]"
};
[[nodiscard]] ProbeVerdict judge_devices(const DeviceEvidence& seen);

// The names in a text that holds /proc/net/dev.
[[nodiscard]] std::vector<std::string> parse_devices(std::string_view text);

}  // namespace loom::app
