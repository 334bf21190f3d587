#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "restrict.h"

namespace landlock::stage2 {
namespace {

constexpr long kClone3 = 435;
constexpr long kIoUringSetup = 425;

// A call that every filter of this backend refuses, with arguments that a kernel without a filter
// finds wanting, whoever asks: EBADF or EINVAL.
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

bool all_refused() noexcept {
  for (const Witness& witness : kWitnesses) {
    if (witness.ask() >= 0 || errno != witness.refusal) return false;
  }
  return true;
}

bool is_refused(int family) noexcept {
  const int made = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int error = errno;
  if (made >= 0) ::close(made);
  return made < 0 && error == EPERM;
}

bool are_rings_refused() noexcept {
  return ::syscall(kIoUringSetup, 0L, 0L) < 0 && (errno == ENOSYS || errno == EPERM);
}

void demand(bool shows, const char* what) noexcept {
  if (!shows) give_up(Step::kFilter, what, 0);
}

}  // namespace

FilterState enter_filter(const PrepareDocument& prepare) noexcept {
  const std::size_t count = prepare.filter_bytes / sizeof(sock_filter);
  // In the document it lies where it lies; the kernel wants it aligned no more than a copy does.
  static std::array<sock_filter, BPF_MAXINSNS> program;
  if (count > program.size()) give_up(Step::kFilter, "filter", E2BIG);
  std::memcpy(program.data(), prepare.filter, count * sizeof(sock_filter));
  const sock_fprog header{.len = static_cast<unsigned short>(count), .filter = program.data()};
  const bool shown_before = all_refused();
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &header) != 0) {
    give_up(Step::kFilter, "seccomp", errno);
  }
  demand(all_refused(), "the filter was taken, and a call is not refused");
  if (prepare.cuts_network)
    demand(is_refused(AF_INET) && are_rings_refused(), "a socket is not refused");
  if (prepare.denies_unix) demand(is_refused(AF_UNIX), "a UNIX socket is not refused");
  return {.showed = !shown_before};
}

}  // namespace landlock::stage2
