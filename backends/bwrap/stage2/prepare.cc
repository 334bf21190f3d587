#include "prepare.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <loom/unique_fd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apply_landlock.h"
#include "check_view.h"
#include "drop_capabilities.h"

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kScopeAbstract = 1U << 0U;
constexpr std::uint64_t kScopeSignal = 1U << 1U;

// Entries in the order of the report, which is not the order of the work.
struct Progress {
  std::vector<std::string> limits;
  std::vector<std::string> restrictions;
  std::vector<std::string> extras;
  std::vector<std::string> skipped;
};

struct Limit {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
};

// Never raises a limit: where the one in force is lower already, it stays.
StepResult<void> set_limit(__rlimit_resource resource, Limit limit, const char* name) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) return stop(Stage2Step::kLimits, name, errno);
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(limit.soft, current.rlim_cur),
                      .rlim_max = std::min<rlim_t>(limit.hard, current.rlim_max)};
  if (::setrlimit(resource, &wanted) != 0) return stop(Stage2Step::kLimits, name, errno);
  return {};
}

StepResult<void> set_file_size(const PrepareDocument& document, Progress& progress) {
  if (!document.fsize) return {};
  const Limit limit{.soft = *document.fsize, .hard = *document.fsize};
  LOOM_TRY_VOID(set_limit(RLIMIT_FSIZE, limit, "rlimit-fsize"));
  progress.limits.emplace_back("rlimit-fsize");
  return {};
}

StepResult<void> set_cpu_time(const PrepareDocument& document, Progress& progress) {
  if (!document.cpu_soft || !document.cpu_hard) return {};
  const Limit limit{.soft = *document.cpu_soft, .hard = *document.cpu_hard};
  LOOM_TRY_VOID(set_limit(RLIMIT_CPU, limit, "rlimit-cpu"));
  progress.limits.emplace_back("rlimit-cpu");
  return {};
}

// EPERM says that the process leads a group. Only a session leader may pass with that.
StepResult<void> lead_session() {
  if (::setsid() >= 0) return {};
  const int error = errno;
  if (error == EPERM && ::getsid(0) == ::getpid()) return {};
  return stop(Stage2Step::kSession, "setsid", error);
}

StepResult<void> restrict_files(const PrepareDocument& document, Progress& progress) {
  if (document.landlock_abi == 0) {
    progress.skipped.push_back("landlock: " + document.landlock_reason);
    return {};
  }
  LOOM_TRY_VOID(apply_landlock(document));
  progress.restrictions.push_back("landlock:abi=" + std::to_string(document.landlock_abi));
  std::string scopes;
  if ((document.landlock_scoped & kScopeAbstract) != 0) scopes = "abstract";
  if ((document.landlock_scoped & kScopeSignal) != 0) {
    scopes.append(scopes.empty() ? "signal" : ",signal");
  }
  if (!scopes.empty()) progress.extras.push_back("scopes=" + scopes);
  return {};
}

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

StepResult<void> filter_calls(const PrepareDocument& document, Progress& progress) {
  if (document.filter.empty()) {
    if (document.filter_wanted) progress.skipped.push_back("seccomp: " + document.filter_reason);
    return {};
  }
  LOOM_TRY_VOID(load_filter(document.filter));
  if (!document.filter_tag.empty()) progress.restrictions.push_back(document.filter_tag);
  return {};
}

void admit_missing_proxy(const PrepareDocument& document, Progress& progress) {
  if (document.proxy_reason.empty()) return;
  progress.skipped.push_back("network-proxy: " + document.proxy_reason);
}

StepResult<void> forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return {};
  return stop(Stage2Step::kNoNewPrivs, "no_new_privs", errno);
}

InnerReport assemble(Progress progress) {
  InnerReport report;
  for (auto* part : {&progress.limits, &progress.restrictions, &progress.extras}) {
    for (std::string& entry : *part) report.applied.push_back(std::move(entry));
  }
  report.skipped = std::move(progress.skipped);
  return report;
}

}  // namespace

StepResult<InnerReport> prepare(const PrepareDocument& document) {
  Progress progress;
  if (document.jailed) LOOM_TRY_VOID(check_view(document));
  LOOM_TRY_VOID(set_file_size(document, progress));
  LOOM_TRY_VOID(set_cpu_time(document, progress));
  if (document.jailed) LOOM_TRY_VOID(lead_session());
  LOOM_TRY_VOID(forbid_new_privileges());
  LOOM_TRY(progress.extras, drop_capabilities(document.keep_caps));
  LOOM_TRY_VOID(restrict_files(document, progress));
  progress.restrictions.emplace_back("no-new-privs");
  LOOM_TRY_VOID(filter_calls(document, progress));
  admit_missing_proxy(document, progress);
  return assemble(std::move(progress));
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

}  // namespace loom::bwrap
