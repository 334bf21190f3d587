#include "environment/build_environment.h"
#include "wrapped.h"

// Every variable that was asked for is allowed.

namespace loom {

std::vector<std::string> real_environment(const EnvironmentRequest& request) LOOM_REAL;
std::vector<std::string> unfiltered_environment(const EnvironmentRequest& request) LOOM_OURS;

std::vector<std::string> unfiltered_environment(const EnvironmentRequest& request) {
  EnvironmentRequest open = request;
  for (const auto& [name, value] : request.requested) open.allow.push_back(name);
  return real_environment(open);
}

}  // namespace loom
