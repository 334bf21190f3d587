#pragma once

#include <loom/policy.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policy/exec_layers.h"

namespace loom::app {

// One command to run, as a caller asks for it.
struct RunRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // requested; the policy's env_allow filters it
  std::string cwd;
  Policy policy;          // in force
  ExecInForce exec{};     // what all policies of the launch say about programs
  std::size_t layer = 0;  // of `policy`, for records: 1 when it came with the start
  std::uint64_t id = 1;   // the caller's; names the run's control group
  // Nothing will run, so nothing is made on the host: the plan says what would be.
  bool for_show = false;
  // Nobody has asked for it yet: what would have to be made on the host is an error.
  bool ahead = false;
  // A jail waits that may serve it: what only a new one needs can be left out.
  bool may_have_jail = false;
  // HOME was not chosen by anybody: where the scratch is a directory of the host's, it becomes
  // that.
  bool home_in_scratch = false;
};

}  // namespace loom::app
