#include "app/self_test/inherited_probes.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "app/self_test/inherited_verdicts.h"
#include "app/self_test/probe_base.h"
#include "host/errno_text.h"

namespace loom::app {
namespace {

// ls lists the shell's descriptors, not its own. The second listing shows what a leak would look
// like.
constexpr const char* kListDescriptors = R"sh(
echo listing
ls "/proc/$$/fd"
exec 7<"$1/mark"
echo marked-listing
ls "/proc/$$/fd"
)sh";

}  // namespace

Result<ProbeVerdict> probe_environment(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  // Also in the helper's own environment: neither way may lead inside.
  ::setenv(kCanary.data(), "inherited", 1);
  auto run = rig.run({.policy = base_policy(directory.path()),
                      .argv = {"env"},
                      .environment = {{"PATH", kProbePath}, {std::string(kCanary), "requested"}}});
  ::unsetenv(kCanary.data());
  if (!run) return tl::unexpected(std::move(run).error());
  return judge_environment(*run);
}

Result<ProbeVerdict> probe_descriptors(ProbeRig& rig) {
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY_VOID(directory.write("mark", "mark\n"));
  // On purpose without close-on-exec: what nobody was careful with must not get inside either.
  const UniqueFd careless(::open(directory.at("mark").str().c_str(), O_RDONLY));
  if (!careless) return fail(ErrorCode::kSystem, "open: " + host::errno_text(errno), errno);
  LOOM_TRY(const ProbeRun run,
           rig.shell(base_policy(directory.path()), kListDescriptors, {directory.path().str()}));
  return judge_descriptors(run, "7");
}

}  // namespace loom::app
