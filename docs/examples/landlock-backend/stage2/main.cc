// The inner stage: three processes, so that nothing of a run outlives it and no namespace is
// needed.
//
//   outer keeper   what the host started and waits for. Leads the session and the group that the
//                  host signals, and dies with the host
//   inner keeper   in a session of its own, out of reach of a kill of that group. When the outer
//                  one has ended, however that came about, it ends everything below it
//   the command    restricts itself, reports, waits for the commit and becomes the command, in a
//                  session of its own
//
// Both keepers adopt what loses its parent below them, so the command gets away from neither by a
// new session. They are in no Landlock domain, which keeps the command from tracing them, and, from
// ABI 6 on, from signalling them. Before that it can kill both, which the report says. Nothing here
// allocates memory but by a mapping of its own.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../landlock_numbers.h"
#include "control.h"
#include "prepare_document.h"
#include "report.h"
#include "restrict.h"
#include "run_command.h"
#include "supervise.h"

namespace landlock::stage2 {
namespace {

void check_descriptors() noexcept {
  for (const int fd : {kDocumentFd, kReportFd, kControlFd}) {
    if (::fcntl(fd, F_GETFD) < 0) {
      give_up(Step::kDocument,
              "descriptors 3 to 5: this program is started by loom-exec, not by hand", errno);
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  if (::syscall(SYS_close_range, kControlFd + 1, ~0U, 0U) != 0) {
    give_up(Step::kDocument, "close_range", errno);
  }
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one; it becomes the command's.
    if (::open("/dev/null", O_RDWR) != fd) give_up(Step::kDocument, "/dev/null", errno);
  }
}

// A keeper holds no end of the command's streams, or nobody would learn that the command closed
// them, and none of the host's channels.
void let_go() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kReportFd, kControlFd}) {
    ::close(fd);
  }
}

// `parent` is who it was before: one that has ended since gets no second word.
void die_with(pid_t parent, int number) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0) {
    give_up(Step::kSession, "parent-death signal", errno);
  }
  if (::getppid() != parent) ::_exit(126);
}

void claim(const PrepareDocument& prepare, const LandlockState& landlock,
           const CapabilityState& capabilities, const FilterState& filter,
           Report& report) noexcept {
  if (landlock.rules) {
    report.add_number("landlock:abi=", prepare.abi);
  } else {
    report.add("unheld:landlock=what could show it was closed before");
  }
  report.add("no-new-privs");
  if (prepare.cuts_network) report.add("seccomp-net");
  report.add(capabilities.empty ? "caps=none" : "unheld:caps=bounding");
  report.add(filter.showed ? "seccomp-deny"
                           : "unheld:seccomp-deny=what could show it was refused before");
  if (prepare.scopes != 0) {
    report.add(landlock.scopes ? "scopes=abstract,signal" : "unheld:signal-scope");
  }
  if (landlock.tcp) report.add("landlock-net=tcp");
  if (prepare.denies_unix) report.add("unix-sockets=denied");
  if (const char* const why = why_dumps_leave()) report.add("unheld:no-core=", why);
}

// The order matters: what a later step needs, an earlier one must not take away. The filter comes
// last, for it refuses calls.
void restrict_and_report(const PrepareDocument& prepare) noexcept {
  Report report;
  set_limits(prepare, report);
  forbid_new_privileges();
  const CapabilityState capabilities = drop_capabilities();
  const LandlockState landlock = enter_landlock(prepare);
  const FilterState filter = enter_filter(prepare);
  claim(prepare, landlock, capabilities, filter, report);
  report.send(kReportFd);
}

[[noreturn]] void become_command(const PrepareDocument& prepare) noexcept {
  if (::setsid() < 0) give_up(Step::kSession, "setsid", errno);
  restrict_and_report(prepare);
  send_ready();
  mark_descriptors();
  reset_signals();
  run_command(await_commit());
}

[[noreturn]] void run(const PrepareDocument& prepare) noexcept {
  become_keeper();
  const pid_t outer = ::getpid();
  const pid_t host = ::getppid();
  const pid_t inner = ::fork();
  if (inner < 0) give_up(Step::kSession, "fork", errno);
  if (inner > 0) {
    let_go();
    keep(inner, Whom::kChild, host);
  }
  die_with(outer, SIGUSR2);
  if (::setsid() < 0) give_up(Step::kSession, "setsid", errno);
  become_keeper();
  const pid_t keeper = ::getpid();
  const pid_t command = ::fork();
  if (command < 0) give_up(Step::kSession, "fork", errno);
  if (command > 0) {
    let_go();
    keep(command, Whom::kGroupOfChild, outer);
  }
  die_with(keeper, SIGKILL);
  become_command(prepare);
}

}  // namespace
}  // namespace landlock::stage2

int main() {
  using namespace landlock::stage2;
  check_descriptors();
  PrepareDocument prepare;
  if (!decode_prepare(read_document(kDocumentFd, Step::kDocument, "prepare document"), prepare)) {
    give_up(Step::kDocument, "prepare document: not one of this version", 0);
  }
  run(prepare);
}
