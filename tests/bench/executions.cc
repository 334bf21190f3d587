#include <loom/check.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/bench/looking.h"
#include "tests/bench/parts.h"
#include "tests/bench/raw_jail.h"

namespace loom::bench {
namespace {

// Where the kernel gives a processor to one of two for a millisecond at a time, the median of a
// hundred moves by several hundredths from run to run.
constexpr int kTimesRounds = 3;

// Two helpers, with and without warm jails, and the yardstick. Each is measured on a machine on
// which nothing of the others still runs: the next jail is built, and waits.
class Executions {
 public:
  explicit Executions(const Setup& setup)
      : setup_(setup),
        raw_(setup),
        cold_(setup.helper, setup.policy, {"--no-warm"}),
        warm_(setup.helper, setup.policy) {
    cold_.greet();
    warm_.greet();
    raw();
    cold();
    warm();
    misses_ = 0;
  }

  double raw() {
    settle();
    return time_once([&] { raw_.run(); });
  }
  double cold() {
    settle();
    return measure(cold_);
  }
  double warm() {
    if (!settle()) ++misses_;
    return measure(warm_);
  }
  // Warm executions before which no jail waited.
  [[nodiscard]] int misses() const noexcept { return misses_; }

 private:
  // From the request that is sent to the answer that was read.
  double measure(Broker& broker) {
    const Bytes request = broker.start_frame({"/usr/bin/true"}, setup_.workspace);
    Bytes answer;
    const double time = time_once([&] {
      broker.write(request);
      answer = broker.read_exit_frame();
    });
    LOOM_CHECK(Broker::ended_well(std::move(answer)));
    return time;
  }
  bool settle() {
    const bool waits = wait_for_jail(warm_.pid());
    rest();
    return waits && jail_waits(warm_.pid());
  }

  const Setup& setup_;
  RawJail raw_;
  Broker cold_;
  Broker warm_;
  int misses_ = 0;
};

// What a policy of an agent protects in most workspaces: a file and a directory.
Setup with_protected_names(const Setup& setup) {
  Setup masked = setup;
  const std::string hooks = setup.workspace + "/.git/hooks";
  const std::string secrets = setup.workspace + "/.env";
  std::filesystem::create_directories(hooks);
  std::ofstream(secrets) << "TOKEN=1\n";
  for (const std::string& path : {hooks, secrets}) {
    masked.policy.protected_paths.push_back(*AbsolutePath::parse(path));
  }
  return masked;
}

void measure_executions(const Setup& setup, const std::string& kind, Report& report) {
  Executions executions(setup);
  const auto add = [&](const char* name, double (Executions::*ours)(), double bound) {
    const Pair pair = alternate_undisturbed(
        kTimesRounds * setup.rounds, [&] { return (executions.*ours)(); },
        [&] { return executions.raw(); });
    report.add({.name = name + kind,
                .unit = "ms",
                .ours = pair.ours,
                .beside = "raw bubblewrap, same options",
                .yardstick = pair.yardstick,
                .kind = Bound::kAtMost,
                .bound = bound,
                .again = pair.again});
  };
  add("cold execution", &Executions::cold, 1.10);
  add("warm execution", &Executions::warm, 0.30);
  report.add({.name = "warm executions without a jail" + kind,
              .unit = "",
              .ours = once(executions.misses()),
              .kind = Bound::kAtMost,
              .bound = 0});
}

}  // namespace

void bench_executions(const Setup& setup, Report& report) {
  measure_executions(setup, "", report);
  measure_executions(with_protected_names(setup), ", 2 protected names", report);
}

}  // namespace loom::bench
