#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "restrict.h"

namespace landlock::stage2 {
namespace {

// One byte is less than the smallest dump, and the one limit that also keeps a dump from a program
// that takes dumps; 0 does not (core(5)).
constexpr rlim_t kNoDump = 1;

// Never raises a limit: where the one in force is lower already, it stays.
rlimit set_limit(__rlimit_resource resource, rlim_t soft, rlim_t hard, const char* name) noexcept {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) give_up(Step::kLimits, name, errno);
  const rlimit wanted{.rlim_cur = std::min(soft, now.rlim_cur),
                      .rlim_max = std::min(hard, now.rlim_max)};
  if (::setrlimit(resource, &wanted) != 0 || ::getrlimit(resource, &now) != 0) {
    give_up(Step::kLimits, name, errno);
  }
  return now;
}

void hold(__rlimit_resource resource, rlim_t soft, rlim_t hard, const char* name,
          Report& report) noexcept {
  const rlimit held = set_limit(resource, soft, hard, name);
  if (held.rlim_cur > soft || held.rlim_max > hard) give_up(Step::kLimits, name, EINVAL);
  report.add(name);
}

void forbid_dumps() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) != 0) give_up(Step::kLimits, "no core", errno);
  const rlim_t most = std::min(kNoDump, now.rlim_max);
  const rlimit wanted{.rlim_cur = most, .rlim_max = most};
  if (::setrlimit(RLIMIT_CORE, &wanted) != 0) give_up(Step::kLimits, "no core", errno);
}

}  // namespace

void set_limits(const PrepareDocument& prepare, Report& report) noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) give_up(Step::kLimits, "descriptors", errno);
  // The helper raised it, and a command may choke on that.
  if (prepare.descriptors.asked) {
    set_limit(RLIMIT_NOFILE, prepare.descriptors.value, now.rlim_max, "descriptors");
  }
  forbid_dumps();
  if (prepare.file_bytes.asked) {
    hold(RLIMIT_FSIZE, prepare.file_bytes.value, prepare.file_bytes.value, "rlimit-fsize", report);
  }
  if (prepare.cpu_soft.asked && prepare.cpu_hard.asked) {
    hold(RLIMIT_CPU, prepare.cpu_soft.value, prepare.cpu_hard.value, "rlimit-cpu", report);
  }
}

const char* why_dumps_leave() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur > kNoDump)
    return "the limit does not read back";
  char receiver = '\0';
  const int pattern = ::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  const bool known = pattern >= 0 && ::pread(pattern, &receiver, 1, 0) == 1;
  if (pattern >= 0) ::close(pattern);
  if (known && receiver == '@') return "the kernel hands dumps to a socket";
  const bool may_be_a_program = !known || receiver == '|';
  if (now.rlim_cur == 0 && may_be_a_program) {
    return "the limit was 0 before, which does not keep dumps from a handler";
  }
  return nullptr;
}

void forbid_new_privileges() noexcept {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    give_up(Step::kNoNewPrivs, "no_new_privs", errno);
  }
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
    give_up(Step::kNoNewPrivs, "no_new_privs does not read back", 0);
  }
}

}  // namespace landlock::stage2
