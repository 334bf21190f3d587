// What a jail costs beside the bare tools, measured in the same run (docs/performance.md). Prints
// ratios and the bound each must keep; never fails on a time.

#include <loom/check.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/figures.h"
#include "tests/bench/options.h"
#include "tests/bench/parts.h"
#include "tests/bench/setup.h"

namespace loom::bench {
namespace {

constexpr Part kParts[] = {
    {"executions", bench_executions}, {"hello", bench_hello}, {"why", bench_why},
    {"output", bench_output},         {"line", bench_line},   {"cancel", bench_cancel},
    {"memory", bench_memory},         {"sizes", bench_sizes}, {"fleet", bench_fleet},
};

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

// A directory that is gone at the end.
class Place {
 public:
  Place() {
    // Not below /tmp: there the jail has its own.
    const char* base = std::getenv("LOOM_BENCH_DIR");
    path_ = std::string(base == nullptr ? "/var/tmp" : base) + "/loom-bench-XXXXXX";
    LOOM_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// A yardstick holds a descriptor for each entry of a policy.
void raise_descriptor_limit() {
  rlimit limit{};
  LOOM_CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  LOOM_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

int measure(const Options& options) {
  const Place place;
  Setup setup{.helper = options.helper,
              .workspace = place.path() + "/workspace",
              .beside = place.path() + "/beside",
              .policy = {},
              .rounds = options.rounds,
              .lists = options.lists};
  std::filesystem::create_directory(setup.workspace);
  std::filesystem::create_directory(setup.beside);
  setup.policy.writable_roots.push_back(*AbsolutePath::parse(setup.workspace));
  setup.policy.env_allow = {"PATH"};
  Report report;
  for (const Part& part : kParts) {
    const auto& only = options.only;
    if (!only.empty() && std::find(only.begin(), only.end(), part.name) == only.end()) continue;
    part.measure(setup, report);
  }
  char taken[160];
  std::snprintf(
      taken, sizeof taken,
      "the host took %.1f %% of this machine's processors meanwhile; %d pairs measured again",
      report.taken_by_host() * 100, report.measured_again());
  report.note(taken);
  if (options.json.empty() || report.write_json(options.json)) return 0;
  std::fprintf(stderr, "loom-bench: %s could not be written\n", options.json.c_str());
  return 1;
}

}  // namespace
}  // namespace loom::bench

int main(int argc, char** argv) {
  int status = 0;
  const auto options = loom::bench::parse_options(
      argc, argv, {.parts = loom::bench::part_names(), .lists = loom::bench::sized_list_names()},
      status);
  if (!options) return status;
  ::signal(SIGPIPE, SIG_IGN);
  loom::bench::raise_descriptor_limit();
  return loom::bench::measure(*options);
}
