#include "app/self_test/probed_calls.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace loom::app {
namespace {

// Not in every C library's <sys/syscall.h>; the same on all architectures.
constexpr long kOpenTree = 428;
constexpr long kClone3 = 435;
constexpr long kIoUringSetup = 425;

// The kernel reads 32 bits of a request; a filter that compares more sees another one.
constexpr unsigned long kHighBit = 1ul << 32U;

constexpr unsigned kNoSuchFlags = 0xffffffff;

struct ProbedCall {
  const char* name;
  int refusal;
  long (*attempt)();
};

// Unprivileged by any kernel's rules up to the point where the arguments are found wanting:
// flags and pointers are judged before privilege is, or instead of it. unshare comes last, because
// it may succeed.
constexpr std::array<ProbedCall, 12> kCalls = {{
    {"clone3", ENOSYS, [] { return ::syscall(kClone3, nullptr, 0); }},
    {"io_uring_setup", ENOSYS, [] { return ::syscall(kIoUringSetup, 1, nullptr); }},
    {"keyctl", EPERM,
     [] { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 0); }},
    {"perf_event_open", EPERM,
     [] { return ::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0ul); }},
    {"userfaultfd", EPERM, [] { return ::syscall(SYS_userfaultfd, kNoSuchFlags); }},
    {"mount", EPERM, [] { return ::syscall(SYS_mount, nullptr, nullptr, nullptr, 0ul, nullptr); }},
    {"open_tree", EPERM, [] { return ::syscall(kOpenTree, -1, nullptr, kNoSuchFlags); }},
    {"setns", EPERM, [] { return ::syscall(SYS_setns, -1, 0); }},
    {"ioctl-TIOCSTI", EPERM, [] { return ::syscall(SYS_ioctl, -1, TIOCSTI, nullptr); }},
    {"ioctl-TIOCSTI-high-bits", EPERM,
     [] { return ::syscall(SYS_ioctl, -1, kHighBit | TIOCSTI, nullptr); }},
    // Two flags that no kernel takes together.
    {"clone-CLONE_NEWUSER", EPERM,
     [] { return ::syscall(SYS_clone, CLONE_NEWUSER | CLONE_FS, nullptr, nullptr, nullptr, 0ul); }},
    {"unshare-CLONE_NEWUSER", EPERM, [] { return ::syscall(SYS_unshare, CLONE_NEWUSER); }},
}};

}  // namespace

std::vector<RefusedCall> probed_calls() {
  std::vector<RefusedCall> calls;
  calls.reserve(kCalls.size());
  for (const ProbedCall& call : kCalls)
    calls.push_back({.name = call.name, .refusal = call.refusal});
  return calls;
}

int probe_calls() {
  for (const ProbedCall& call : kCalls) {
    const int error = call.attempt() < 0 ? errno : 0;
    std::printf("call %s %d\n", call.name, error);
    std::fflush(stdout);  // a call that kills must not take the earlier answers along
  }
  std::printf("%.*s\n", static_cast<int>(kCallsDone.size()), kCallsDone.data());
  std::fflush(stdout);
  return 0;
}

}  // namespace loom::app
