#include "app/self_test/ceiling_verdicts.h"

#include <algorithm>

namespace loom::app {
namespace {

constexpr int kSignalBase = 128;

std::string printed(const ProbeRun& run) {
  return "stdout " + quote_output(run.out) + ", stderr " + quote_output(run.err) + ", " +
         run.result.outcome.detail;
}

std::string size_text(const std::optional<std::uint64_t>& size) {
  return size ? std::to_string(*size) + " bytes" : std::string("missing");
}

// The machine has a base, and this run got no group from it: a grant that was not given.
std::optional<ProbeVerdict> without_group(const ProbeRun& run) {
  if (auto skip = read_skip(run.result.enforcement, "cgroup-v2")) return skipped(std::move(*skip));
  if (run.result.use) return std::nullopt;
  return failed("the run was in no control group, and its report does not say so");
}

}  // namespace

ProbeVerdict judge_forks(const ProbeRun& run) {
  if (auto verdict = without_group(run)) return std::move(*verdict);
  if (run.result.use->denied_forks.value_or(0) == 0) {
    return failed("the control group counted no denied fork; " + printed(run));
  }
  if (!has_line(run.out, kStarted)) {
    return failed("not even one process could be started, so a refusal proves nothing; " +
                  printed(run));
  }
  return enforced();
}

ProbeVerdict judge_fork_burst(const ProbeRun& run) {
  if (auto skip = read_skip(run.result.enforcement, "rlimit-processes")) {
    return skipped(std::move(*skip));
  }
  if (has_line(run.out, kForkAllStarted)) {
    return failed("all " + std::to_string(kForkBurst) + " processes were started above a room of " +
                  std::to_string(kForkRoom));
  }
  if (!has_line(run.out, kForkDenied)) return failed("inconclusive: " + printed(run));
  return enforced();
}

ProbeVerdict judge_flood(const ProbeRun& run) {
  const ExecResult& result = run.result;
  const bool exact = result.stdout_bytes == kFloodCap && run.out.size() == kFloodCap;
  if (!result.stdout_truncated || !exact) {
    return failed(std::string(result.stdout_truncated ? "truncated" : "not truncated") + ", " +
                  std::to_string(result.stdout_bytes) + " bytes reported, " +
                  std::to_string(run.out.size()) + " received; stderr " + quote_output(run.err));
  }
  const bool zeros = std::all_of(run.out.begin(), run.out.end(), [](char c) { return c == '\0'; });
  return zeros ? enforced() : failed("other bytes arrived than the payload wrote");
}

ProbeVerdict judge_file_ceiling(const FileCeilingEvidence& seen) {
  if (!has_line(seen.run.out, kSmallOk) || seen.small_size.value_or(0) == 0) {
    return failed("a small file could not be written; " + printed(seen.run));
  }
  if (seen.large_size != kFileCeiling) {
    return failed("the file is " + size_text(seen.large_size) + "; " + printed(seen.run));
  }
  if (seen.run.result.code != kSignalBase + seen.signal_number) {
    return failed("the writer was not ended by SIGXFSZ; " + printed(seen.run));
  }
  return enforced();
}

ProbeVerdict judge_memory(const ProbeRun& run) {
  if (auto verdict = without_group(run)) return std::move(*verdict);
  if (number_after(run.out, kAllocated) != kSmallMemory) {
    return failed("a small allocation did not succeed, so a refusal proves nothing; " +
                  printed(run));
  }
  if (run.result.use->out_of_memory_kills.value_or(0) == 0) {
    return failed("the control group counted no kill for want of memory; " + printed(run));
  }
  return enforced();
}

}  // namespace loom::app
