#include "probe.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <loom/unique_fd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "errno_text.h"
#include "probe_launcher.h"
#include "stage2/landlock_calls.h"

namespace loom::bwrap {
namespace {

void probe_landlock(KernelFacts& facts) {
  const int abi = landlock_abi();
  if (abi > 0) {
    facts.landlock_abi = static_cast<std::uint32_t>(abi);
    return;
  }
  const int error = abi < 0 ? errno : ENOSYS;
  facts.landlock_reason = errno_text(error);
  facts.landlock_unclear = error != ENOSYS && error != EOPNOTSUPP;
}

// A kernel that knows filters goes on to read the program, and there is none: EFAULT is the good
// answer.
void probe_seccomp(KernelFacts& facts) {
  const long answer = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr);
  const int error = answer < 0 ? errno : 0;
  facts.seccomp = error == EFAULT;
  if (!facts.seccomp) facts.seccomp_reason = errno_text(error);
}

// The first digit of a sysctl; nothing when this kernel does not have it.
char first_digit(const char* file) {
  const UniqueFd opened(::open(file, O_RDONLY | O_CLOEXEC));
  char digit = '\0';
  return opened && ::read(opened.get(), &digit, 1) == 1 ? digit : '\0';
}

Surroundings look_around() {
  // Each is the most that this user namespace may have; 0 stands for itself, no number starts so.
  static constexpr std::array<const char*, 7> kLimits = {
      "/proc/sys/user/max_cgroup_namespaces", "/proc/sys/user/max_ipc_namespaces",
      "/proc/sys/user/max_mnt_namespaces",    "/proc/sys/user/max_net_namespaces",
      "/proc/sys/user/max_pid_namespaces",    "/proc/sys/user/max_user_namespaces",
      "/proc/sys/user/max_uts_namespaces"};
  Surroundings seen;
  seen.restricts_namespaces =
      ::geteuid() != 0 &&
      first_digit("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == '1';
  for (const char* limit : kLimits) {
    if (first_digit(limit) == '0') seen.forbids_namespaces = true;
  }
  return seen;
}

// --unshare-cgroup-try passes over what the kernel does not have, and says nothing.
bool lacks_cgroup_namespaces() {
  return ::access("/proc/self/ns/cgroup", F_OK) != 0 && errno == ENOENT;
}

Result<Bytes> probe_before_plan(const HostFacts& known, HostServices& host) {
  LOOM_TRY(KernelFacts facts, decode_kernel_facts(known.backend));
  if (!known.launcher.present || !known.stage2.present) return known.backend;
  LOOM_TRY(facts.launcher, probe_launcher(host, look_around));
  if (facts.launcher.no_cgroup.empty() && lacks_cgroup_namespaces()) {
    facts.launcher.no_cgroup = "this kernel has none";
  }
  return encode(facts);
}

}  // namespace

KernelFacts probe_kernel() {
  KernelFacts facts;
  probe_landlock(facts);
  probe_seccomp(facts);
  return facts;
}

Result<Bytes> probe(const ProbeRequest& request, HostServices& host) {
  if (request.phase == ProbePhase::kBeforeHello || request.facts.backend.empty()) {
    return encode(probe_kernel());
  }
  return probe_before_plan(request.facts, host);
}

}  // namespace loom::bwrap
