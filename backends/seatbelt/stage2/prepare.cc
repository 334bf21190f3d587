#include "prepare.h"

#include <errno.h>
#include <loom/unique_fd.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "account_processes.h"
#include "process_limit.h"

namespace loom::seatbelt {
namespace {

constexpr const char* kAddressSpaceTag = "rlimit-address-space";
constexpr const char* kProcessesTag = "rlimit-processes";

struct Limit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// The type of the first argument of setrlimit differs from system to system.
using Resource = decltype(RLIMIT_CPU);

// Never raises a limit: where the one in force is lower already, it stays. 0, or errno; ERANGE
// when it was set and does not read back.
int set_limit(Resource resource, Limit limit) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return errno;
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(limit.soft, current.rlim_cur),
                      .rlim_max = std::min<rlim_t>(limit.hard, current.rlim_max)};
  if (::setrlimit(resource, &wanted) != 0) return errno;
  rlimit held{};
  if (::getrlimit(resource, &held) != 0) return errno;
  return held.rlim_cur <= limit.soft && held.rlim_max <= limit.hard ? 0 : ERANGE;
}

StepResult<void> hold_limit(Resource resource, Limit limit, const char* tag, InnerReport& report) {
  const int error = set_limit(resource, limit);
  if (error == ERANGE) {
    report.skipped.push_back(std::string(tag) + ": it was set, and does not read back");
    return {};
  }
  if (error != 0) return stop(Stage2Step::kLimits, tag, error);
  report.applied.emplace_back(tag);
  return {};
}

void skip(const char* tag, const std::string& reason, InnerReport& report) {
  report.skipped.push_back(std::string(tag) + ": " + reason);
}

std::string describe(const Error& error) {
  if (error.sys_errno == 0) return error.message;
  return error.message + ": " + ::strerror(error.sys_errno);
}

// The helper raised it, and a command may choke on what is usual for us: some close each possible
// number before they start another program.
StepResult<void> restore_descriptor_limit(const PrepareDocument& document) {
  if (!document.descriptor_limit) return {};
  rlimit current{};
  if (::getrlimit(RLIMIT_NOFILE, &current) != 0) {
    return stop(Stage2Step::kLimits, "descriptor limit", errno);
  }
  const Limit limit{.soft = *document.descriptor_limit, .hard = current.rlim_max};
  const int error = set_limit(RLIMIT_NOFILE, limit);
  if (error != 0) return stop(Stage2Step::kLimits, "descriptor limit", error);
  return {};
}

StepResult<void> forbid_dumps(InnerReport& report) {
  const int error = set_limit(RLIMIT_CORE, {.soft = 0, .hard = 0});
  if (error == ERANGE) {
    report.applied.emplace_back("unheld:no-core=the limit was set, and does not read back");
    return {};
  }
  if (error != 0) return stop(Stage2Step::kLimits, "no core", error);
  return {};
}

StepResult<void> hold_ceilings(const PrepareDocument& document, InnerReport& report) {
  if (document.fsize_bytes) {
    const Limit limit{.soft = *document.fsize_bytes, .hard = *document.fsize_bytes};
    LOOM_TRY_VOID(hold_limit(RLIMIT_FSIZE, limit, "rlimit-fsize", report));
  }
  if (document.cpu_s) {
    const std::uint64_t soft = *document.cpu_s;
    const Limit limit{.soft = soft, .hard = soft == UINT64_MAX ? soft : soft + 1};
    LOOM_TRY_VOID(hold_limit(RLIMIT_CPU, limit, "rlimit-cpu", report));
  }
  return {};
}

// xnu refuses a limit below what the process has mapped already, which is more than most ask for
// (EINVAL; bsd/kern/kern_resource.c), and its older releases take it and hold nobody to it.
void try_address_space(const PrepareDocument& document, InnerReport& report) {
  if (!document.address_space_bytes) return;
  const std::uint64_t bytes = *document.address_space_bytes;
  const int error = set_limit(RLIMIT_AS, {.soft = bytes, .hard = bytes});
  if (error == 0) {
    report.applied.emplace_back(kAddressSpaceTag);
  } else {
    skip(kAddressSpaceTag, std::string(::strerror(error)) + "; mem_bytes is not in force", report);
  }
}

// Whether a limit of processes means anything for this account (xnu, bsd/kern/kern_fork.c).
bool is_held_to_process_limit() { return ::getuid() != 0; }

void skip_for_superuser(InnerReport& report) {
  skip(kProcessesTag, "the kernel holds uid 0 to no such limit", report);
}

void try_process_limit(const PrepareDocument& document, InnerReport& report) {
  if (!document.processes) return;
  const std::uint64_t limit = *document.processes;
  if (!is_held_to_process_limit()) return skip_for_superuser(report);
  const auto count = count_account_processes();
  if (!count) return skip(kProcessesTag, describe(count.error()), report);
  if (!leaves_room(limit, *count)) {
    return skip(kProcessesTag,
                "this account has " + std::to_string(*count) +
                    " processes already, which leaves a limit of " + std::to_string(limit) +
                    " too little room; pids is not in force",
                report);
  }
  const int error = set_limit(RLIMIT_NPROC, {.soft = limit, .hard = limit});
  if (error != 0) return skip(kProcessesTag, ::strerror(error), report);
  report.applied.emplace_back(kProcessesTag);
}

StepResult<std::uint64_t> choose_brake_limit(std::uint64_t budget) {
  const auto refuse = [](const Error& error) {
    return stop(Stage2Step::kLimits, "fork brake: " + error.message, error.sys_errno);
  };
  const auto count = count_account_processes();
  if (!count) return refuse(count.error());
  const auto ceiling = read_account_ceiling();
  if (!ceiling) return refuse(ceiling.error());
  rlimit current{};
  if (::getrlimit(RLIMIT_NPROC, &current) != 0) {
    return stop(Stage2Step::kLimits, "fork brake", errno);
  }
  return brake_limit(
      {.count = *count, .budget = budget, .ceiling = *ceiling, .inherited_hard = current.rlim_max});
}

// Its threshold is absolute, so the forks of this run are the first that fail when the account's
// other programs grow past it; it ends nothing.
StepResult<void> brake_forks(const PrepareDocument& document, InnerReport& report) {
  if (!document.fork_brake) return {};
  LOOM_TRY(const std::uint64_t limit, choose_brake_limit(*document.fork_brake));
  const int error = set_limit(RLIMIT_NPROC, {.soft = limit, .hard = limit});
  if (error != 0) return stop(Stage2Step::kLimits, "fork brake", error);
  if (is_held_to_process_limit()) {
    report.applied.emplace_back(kProcessesTag);
  } else {
    skip_for_superuser(report);
  }
  return {};
}

// The host's child leads a session of its own before the launcher runs, and neither changes that.
StepResult<void> lead_session() {
  if (::getsid(0) == ::getpid() || ::setsid() >= 0) return {};
  return stop(Stage2Step::kSession, "setsid", errno);
}

void admit_what_is_missing(const PrepareDocument& document, InnerReport& report) {
  skip("darwin-process-lifecycle",
       "no kernel object owns every process of a run: one that is reparented between two samples "
       "of the process table can outlive it, inside the profile",
       report);
  if (document.proxy_asked) {
    skip("network-proxy",
         "there is no proxy to go through; direct network was disabled instead, and the allowlist "
         "was not enforced",
         report);
  }
}

}  // namespace

StepResult<InnerReport> prepare(const PrepareDocument& document) {
  InnerReport report;
  LOOM_TRY_VOID(restore_descriptor_limit(document));
  LOOM_TRY_VOID(hold_ceilings(document, report));
  try_address_space(document, report);
  try_process_limit(document, report);
  LOOM_TRY_VOID(brake_forks(document, report));
  LOOM_TRY_VOID(forbid_dumps(report));
  LOOM_TRY_VOID(lead_session());
  admit_what_is_missing(document, report);
  return report;
}

StepResult<void> write_report(const InnerReport& report, int report_fd) {
  UniqueFd pipe(report_fd);
  const Bytes bytes = encode(report);
  if (bytes.size() > kMaxInnerReportBytes) return stop(Stage2Step::kReport, "report", E2BIG);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(pipe.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return stop(Stage2Step::kReport, "report", errno);
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace loom::seatbelt
