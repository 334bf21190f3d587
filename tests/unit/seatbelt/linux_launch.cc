#include "linux_launch.h"

#include <loom/check.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/bwrap/audit.h"
#include "backends/bwrap/kernel_facts.h"
#include "backends/bwrap/plan.h"
#include "backends/bwrap/run_memo.h"
#include "backends/bwrap/survey.h"

namespace loom::seatbelt::test {
namespace {

Bytes linux_backend_facts() {
  bwrap::KernelFacts kernel;
  kernel.landlock_abi = 7;
  kernel.seccomp = true;
  kernel.launcher.tried = kernel.launcher.by_handle = true;
  return encode(kernel);
}

bool is_left_out(const MountOperation& operation) {
  const bool tolerant =
      operation.form == MountForm::kBindTry || operation.form == MountForm::kReadOnlyBindTry;
  return tolerant && operation.identity == FileIdentity{};
}

}  // namespace

ModelTree linux_tree(const PolicyCase& one) {
  ModelTree tree;
  tree.directory("/usr/bin").file("/usr/bin/tool").file("/usr/lib/ld.so").file("/usr/bin/sh");
  tree.link("/bin", "usr/bin").link("/lib", "usr/lib").directory("/sbin").file("/etc/hosts");
  tree.file("/opt/t/f").directory("/var/lib").directory("/tmp").directory("/proc");
  tree.device("/dev/null").file("/var/db/x").file("/helper/stage2");
  tree.file("/System/Volumes/Data/own/f").file("/System/Volumes/Preboot/Cryptexes/OS/cache");
  for (const char* const at : {"/var/folders/u/T", "/var/folders/u/C"}) tree.directory(at);
  place_entries(tree, one);
  return tree;
}

LinuxLaunch::LinuxLaunch(const PolicyCase& one)
    : tree_(linux_tree(one)), exec_(freeze(one.policy, tree_, {"/usr/lib/ld.so"})) {
  make_plan(one.policy);
  if (!refusal_.empty()) return;
  for (const MountOperation& operation : plan_.view) {
    if (!is_left_out(operation)) view_.push_back(operation);
  }
  replay_ = std::make_unique<ViewReplay>(view_);
  const auto audited = bwrap::audit(plan_);
  LOOM_CHECK(audited.has_value());
  widened_ = audited->widened;
  const auto memo = bwrap::decode_run_memo(plan_.backend);
  LOOM_CHECK(memo.has_value());
  for (const bwrap::HostLink& link : memo->links) links_.insert(link.place.str());
}

void LinuxLaunch::make_plan(const Policy& policy) {
  HostFacts facts = bare_facts("linux", "/usr/bin/bwrap", "/x/bwrap-stage2", linux_backend_facts());
  const auto surveyed = bwrap::survey({.policy = policy, .facts = facts}).paths;
  // Once more after what the first plan asks for was made.
  for (int round = 0; round < 2; ++round) {
    facts.paths = tree_.facts(surveyed, made_);
    facts.directories = tree_.directories(facts.paths, made_);
    auto planned = bwrap::plan(request_for(policy, exec_, facts));
    if (!planned) {
      refusal_ = planned.error().message;
      return;
    }
    plan_ = *std::move(planned);
    if (plan_.to_make.empty()) return;
    for (const MadeName& name : plan_.to_make) made_.insert(name.path.str());
  }
}

bool LinuxLaunch::cuts_network() const {
  const auto& argv = plan_.canonical_argv;
  return std::find(argv.begin(), argv.end(), "--unshare-net") != argv.end();
}

bool LinuxLaunch::is_mount_point(const std::string& real) const {
  return shown(real).region.str() == real;
}

bool LinuxLaunch::shows_link(const std::string& place) const {
  return links_.contains(place) || is_host_backed(shown(place).mount_class);
}

bool LinuxLaunch::may_create(const std::string& path) const {
  const Landing& landing = tree_.walk(path);
  const std::string& real = landing.real;
  const std::string above = parent_of(real);
  return landing.error == ENOENT && tree_.at(above) == NodeKind::kDirectory && !is_made(real) &&
         is_host_writable(shown(above).mount_class) && is_host_writable(shown(real).mount_class);
}

bool LinuxLaunch::may_move(const std::string& path) const {
  const Landing& landing = tree_.walk(path, false);
  return landing.kind && landing.real != "/" && !is_mount_point(landing.real) &&
         is_host_writable(shown(parent_of(landing.real)).mount_class) &&
         is_host_writable(shown(landing.real).mount_class);
}

bool LinuxLaunch::may(Deed deed, const std::string& path) const {
  const Landing& landing = tree_.walk(path, deed != Deed::kMove);
  const bool reached =
      std::all_of(landing.links.begin(), landing.links.end(),
                  [this](const LinkFact& link) { return shows_link(link.place.str()); });
  if (!reached) return false;
  const MountClass shown_as = shown(landing.real).mount_class;
  switch (deed) {
    case Deed::kRead:
      return landing.kind && is_host_backed(shown_as);
    case Deed::kWrite:
      return landing.kind == NodeKind::kFile && is_host_writable(shown_as);
    case Deed::kCreate:
      return may_create(path);
    case Deed::kMove:
      return may_move(path);
    case Deed::kRun:
      return landing.kind == NodeKind::kFile && is_host_backed(shown_as) &&
             (exec_.admits(landing.real) || exec_.supports(landing.real));
  }
  return false;
}

}  // namespace loom::seatbelt::test
