#pragma once

#include "../place.h"
#include "value.h"

namespace loom::conformance {

// A policy of version 2: work/ of the place writable, network off, private scratch, no limits, PATH
// allowed.
[[nodiscard]] Json policy_for(const Place& place);
// `policy` with one limit set.
[[nodiscard]] Json limited(Json policy, const char* limit, std::uint64_t value);

// The body of an exec_start, complete.
[[nodiscard]] Json start_of(const std::vector<std::string>& argv);
// /bin/sh with a script.
[[nodiscard]] Json shell(const std::string& script);
// `start` with one key set.
[[nodiscard]] Json with(Json map, const char* key, const Json& value);
[[nodiscard]] Json without(Json map, const char* key);

// Scripts: says "up" and then waits; goes away politely with status 7; hears nothing of SIGTERM.
inline constexpr const char* kWaits = "echo up; exec sleep 600";
inline constexpr const char* kPolite = "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done";
inline constexpr const char* kDeaf = "trap '' TERM; echo up; while :; do sleep 0.1; done";

}  // namespace loom::conformance
