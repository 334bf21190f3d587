#pragma once

#include <loom/policy.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/bench/broker.h"

namespace loom::bench {

// What every part measures with.
struct Setup {
  std::string helper{};     // absolute
  std::string workspace{};  // the policy's one writable root
  std::string beside{};     // a directory that the policy does not name
  Policy policy{};
  int rounds = 100;
  std::vector<std::string> lists{};  // part sizes: these lists of the policy; none means all
};

// How long everything rests before something is measured, so that nothing else still runs: a broker
// that thinks before its next command.
inline constexpr std::chrono::milliseconds kThinking{30};
void rest();

// A bare spawn, from start to end: the yardstick of what starts.
void run_true();
// A whole execution of /usr/bin/true in a helper; false when that was not its end.
[[nodiscard]] bool try_run_in(Broker& broker, const Setup& setup);
// The same, which must end well.
void run_in(Broker& broker, const Setup& setup);

}  // namespace loom::bench
