#include "apply_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <loom/unique_fd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace loom::bwrap {
namespace {

constexpr long kClone3 = 435;
constexpr long kIoUringSetup = 425;

StepResult<void> load_filter(const Bytes& filter) {
  const std::size_t count = filter.size() / sizeof(sock_filter);
  if (count > BPF_MAXINSNS) return stop(Stage2Step::kFilter, "filter too long", E2BIG);
  std::vector<sock_filter> program(count);
  std::copy(filter.begin(), filter.end(), std::as_writable_bytes(std::span(program)).begin());
  const sock_fprog header{.len = static_cast<unsigned short>(count), .filter = program.data()};
  const long result =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &header);
  if (result < 0) return stop(Stage2Step::kFilter, "seccomp", errno);
  // With TSYNC a positive result is the id of a thread that goes on without the filter.
  if (result > 0) return stop(Stage2Step::kFilter, "thread " + std::to_string(result));
  return {};
}

// A call that the deny-set refuses, with arguments that a kernel without it finds wanting whoever
// asks: EBADF or EINVAL.
struct Witness {
  int refusal;
  long (*ask)();
};
constexpr std::array<Witness, 4> kWitnesses = {{
    {EPERM, [] { return ::syscall(SYS_setns, -1L, 0L); }},
    {EPERM, [] { return ::syscall(SYS_ioctl, -1L, static_cast<long>(TIOCSTI), 0L); }},
    {EPERM, [] { return ::syscall(SYS_unshare, static_cast<long>(CLONE_NEWUSER) | 1L); }},
    {ENOSYS, [] { return ::syscall(kClone3, 0L, 0L); }},
}};

bool is_refused(const Witness& witness) { return witness.ask() < 0 && errno == witness.refusal; }

// Somebody else's filter may refuse one of the calls, and say nothing of the rest.
std::string judge_deny_set(bool shows) {
  if (!std::all_of(kWitnesses.begin(), kWitnesses.end(), is_refused)) {
    return "unheld:seccomp-deny=the filter was taken, and a call is not refused";
  }
  if (shows) return "seccomp-deny";
  return "unheld:seccomp-deny=what could show it was refused before";
}

// EPERM is the filter's own answer. Whoever else gave it, sockets are refused as the tag says.
bool refuses_socket(int family) {
  const UniqueFd made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return !made && errno == EPERM;
}

bool refuses_datagram_pair() {
  std::array<int, 2> ends = {-1, -1};
  const long result = ::syscall(SYS_socketpair, static_cast<long>(AF_UNIX),
                                static_cast<long>(SOCK_DGRAM | SOCK_CLOEXEC), 0L, ends.data());
  const bool refused = result < 0 && errno == EPERM;
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);
  return refused;
}

// EPERM is what a system says that has switched them off.
bool refuses_rings() {
  return ::syscall(kIoUringSetup, 0L, 0L) < 0 && (errno == ENOSYS || errno == EPERM);
}

void judge_sockets(const PrepareDocument& document, FilterEntries& entries) {
  // A family that every filter of the backend's refuses; where the network stays open, one that is
  // refused even then.
  const bool held = refuses_socket(document.filter_tag.empty() ? AF_ALG : AF_INET);
  if (document.filter_tag.empty()) {
    if (!held) entries.extras.emplace_back("unheld:socket-families");
  } else if (held) {
    entries.restrictions.push_back(document.filter_tag);
  } else {
    entries.skipped.emplace_back("seccomp: the filter was taken, and a socket is not refused");
  }
  if (!document.denies_unix) return;
  const bool denied = refuses_socket(AF_UNIX) && refuses_datagram_pair() && refuses_rings();
  entries.extras.emplace_back(denied ? "unix-sockets=denied" : "unheld:unix-path");
}

}  // namespace

StepResult<FilterEntries> apply_filter(const PrepareDocument& document) {
  FilterEntries entries;
  if (document.filter.empty()) {
    if (document.filter_wanted) entries.skipped.push_back("seccomp: " + document.filter_reason);
    return entries;
  }
  const bool shows =
      document.filter_denies && !std::all_of(kWitnesses.begin(), kWitnesses.end(), is_refused);
  LOOM_TRY_VOID(load_filter(document.filter));
  if (document.filter_denies) entries.deny_set.push_back(judge_deny_set(shows));
  judge_sockets(document, entries);
  return entries;
}

}  // namespace loom::bwrap
