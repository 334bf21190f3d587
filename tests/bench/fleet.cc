#include <loom/check.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/process_table.h"
#include "tests/bench/child_process.h"
#include "tests/bench/crew.h"
#include "tests/bench/looking.h"
#include "tests/bench/parts.h"
#include "tests/bench/raw_jail.h"

namespace loom::bench {
namespace {

constexpr int kFleets[] = {1, 2, 4, 16, 64};
constexpr int kRounds = 5;
// Of a steady round, shared by the fleet, so that a round of few takes as long as one of many.
constexpr int kExecutions = 64;
constexpr double kMsPerSecond = 1'000;
// Until every helper of a fleet has its next jail.
constexpr std::chrono::milliseconds kSettling{1'000};

struct Mode {
  const char* name;
  std::vector<std::string> flags;
};

std::vector<Mode> modes() { return {{"warm", {}}, {"cold", {"--no-warm"}}}; }

std::string number_of(int count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string helpers(int count) { return number_of(count, "helper") + ", "; }

// ---- start-up storm -----------------------------------------------------------------------------

double hellos(const Setup& setup, int count, const std::vector<std::string>& flags) {
  std::vector<std::unique_ptr<Broker>> brokers;
  rest();
  return time_once([&] {
    for (int i = 0; i < count; ++i) {
      brokers.push_back(std::make_unique<Broker>(setup.helper, setup.policy, flags));
    }
    for (const auto& broker : brokers) broker->greet();
  });
}

double spawns(int count) {
  std::vector<ChildProcess> children;
  rest();
  return time_once([&] {
    for (int i = 0; i < count; ++i) children.push_back(start_child({.argv = {"/usr/bin/true"}}));
    for (const ChildProcess& child : children) wait_for(child);
  });
}

void measure_storm(const Setup& setup, int count, const Mode& mode, Report& report) {
  const Pair pair = alternate(
      kRounds, [&] { return hellos(setup, count, mode.flags); }, [&] { return spawns(count); });
  report.add({.name = helpers(count) + mode.name + ", to all hellos",
              .unit = "ms",
              .ours = pair.ours,
              .beside = "as many spawns of /usr/bin/true",
              .yardstick = pair.yardstick});
}

// ---- steady load --------------------------------------------------------------------------------

int share_of(int count) { return std::max(2, kExecutions / count); }

// Brokers, each with a helper of its own, that send one command after the other.
Crew make_brokers(const Setup& setup, int count, const Mode& mode) {
  return Crew(count, [&setup, &mode, count]() -> Crew::Work {
    auto broker = std::make_shared<Broker>(setup.helper, setup.policy, mode.flags);
    broker->greet();
    run_in(*broker, setup);
    return [&setup, count, broker] {
      for (int i = 0; i < share_of(count); ++i) run_in(*broker, setup);
    };
  });
}

Crew make_raw_jails(const RawJail& raw, int count) {
  return Crew(count, [&raw, count]() -> Crew::Work {
    return [&raw, count] {
      for (int i = 0; i < share_of(count); ++i) raw.run();
    };
  });
}

// Proportional set size of all helpers of a crew, each with what is below it.
double pss_of(const Crew& crew) {
  double kib = 0;
  for (const int broker : crew.pids()) {
    const auto children = host::read_children(broker);
    LOOM_CHECK(children.has_value() && children->size() == 1);
    kib += family_kib(children->front());
  }
  return kib;
}

double per_second(int count, double ms) { return count * share_of(count) * kMsPerSecond / ms; }

Figure measure_load(const RawJail& raw, Crew& brokers, int count) {
  Crew jails = make_raw_jails(raw, count);
  const auto rate = [&](Crew& crew) {
    rest();
    return per_second(count, crew.round());
  };
  const Pair pair = alternate(
      kRounds, [&] { return rate(brokers); }, [&] { return rate(jails); });
  return {.unit = "1/s",
          .ours = pair.ours,
          .beside = "as many raw bubblewraps at once",
          .yardstick = pair.yardstick};
}

void measure_steady(const Setup& setup, const RawJail& raw, int count, const Mode& mode,
                    Report& report) {
  constexpr double kKibPerMib = 1024;
  Crew brokers = make_brokers(setup, count, mode);
  Figure load = measure_load(raw, brokers, count);
  load.name = helpers(count) + mode.name + ", executions";
  report.add(std::move(load));
  std::this_thread::sleep_for(kSettling);
  report.add({.name = helpers(count) + mode.name + ", PSS each",
              .unit = "MiB",
              .ours = once(pss_of(brokers) / count / kKibPerMib)});
}

// ---- processors ---------------------------------------------------------------------------------

// Everything started meanwhile has so many processors. All of them are what the fleets above had.
class FewerProcessors {
 public:
  explicit FewerProcessors(int count) {
    LOOM_CHECK(::sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t fewer;
    CPU_ZERO(&fewer);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&fewer) < count; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &fewer);
    }
    LOOM_CHECK(::sched_setaffinity(0, sizeof fewer, &fewer) == 0);
  }
  ~FewerProcessors() { LOOM_CHECK(::sched_setaffinity(0, sizeof before_, &before_) == 0); }
  FewerProcessors(const FewerProcessors&) = delete;
  FewerProcessors& operator=(const FewerProcessors&) = delete;

 private:
  cpu_set_t before_{};
};

void measure_processors(const Setup& setup, const RawJail& raw, int processors, Report& report) {
  constexpr int kHelpers = 16;
  const FewerProcessors fewer(processors);
  for (const Mode& mode : modes()) {
    Crew brokers = make_brokers(setup, kHelpers, mode);
    Figure load = measure_load(raw, brokers, kHelpers);
    load.name = helpers(kHelpers) + mode.name + ", " + number_of(processors, "processor");
    report.add(std::move(load));
  }
}

}  // namespace

void bench_fleet(const Setup& setup, Report& report) {
  const RawJail raw(setup);
  for (const int count : kFleets) {
    for (const Mode& mode : modes()) {
      measure_storm(setup, count, mode, report);
      measure_steady(setup, raw, count, mode, report);
    }
  }
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  for (int some = 1; some < all; some *= 2) measure_processors(setup, raw, some, report);
}

}  // namespace loom::bench
