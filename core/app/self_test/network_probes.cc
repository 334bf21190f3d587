#include "app/self_test/network_probes.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "app/self_test/network_verdicts.h"
#include "app/self_test/probe_base.h"

namespace loom::app {
namespace {

constexpr const char* kShowNetwork = R"sh(
echo "namespace $(readlink /proc/self/ns/net)"
cat /proc/net/dev
)sh";

std::string own_network_namespace() {
  std::array<char, 64> text{};
  const ssize_t size = ::readlink("/proc/self/ns/net", text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

Result<ProbeVerdict> probe_direct_socket(ProbeRig& rig) {
  if (!rig.has(rig.jail().network)) return rig.without(rig.jail().network);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  policy.readable_roots = {rig.executable().parent()};
  const std::vector<std::string> argv = {rig.executable().str(), "--probe-socket"};
  SocketEvidence seen;
  policy.network.mode = NetworkMode::kFull;
  LOOM_TRY(seen.control, rig.run({.policy = policy, .argv = argv}));
  policy.network.mode = NetworkMode::kOff;
  LOOM_TRY(seen.test, rig.run({.policy = policy, .argv = argv}));
  return judge_socket(seen);
}

Result<ProbeVerdict> probe_devices(ProbeRig& rig) {
  if (!rig.has("bwrap")) return rig.without("bwrap");
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  Policy policy = base_policy(directory.path());
  DeviceEvidence seen;
  seen.own_namespace = own_network_namespace();
  policy.network.mode = NetworkMode::kFull;
  LOOM_TRY(seen.control, rig.shell(policy, kShowNetwork, {}));
  policy.network.mode = NetworkMode::kOff;
  LOOM_TRY(seen.test, rig.shell(policy, kShowNetwork, {}));
  return judge_devices(seen);
}

}  // namespace loom::app
