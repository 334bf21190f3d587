#include <loom/check.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/looking.h"
#include "tests/bench/parts.h"
#include "tests/bench/raw_jail.h"

namespace loom::bench {
namespace {

struct SizedList {
  const char* name;
  void (*add)(Policy& policy, const AbsolutePath& path);
  bool in_workspace = false;  // what is protected lies where a command writes
};

constexpr SizedList kLists[] = {
    {"protected", [](Policy& p, const AbsolutePath& path) { p.protected_paths.push_back(path); },
     true},
    {"readable_roots",
     [](Policy& p, const AbsolutePath& path) { p.readable_roots.push_back(path); }},
    {"writable_roots",
     [](Policy& p, const AbsolutePath& path) { p.writable_roots.push_back(path); }},
    {"mounts",
     [](Policy& p, const AbsolutePath& path) {
       p.mounts.push_back({.path = path, .writable = false});
     }},
};

// Below what fits into bubblewrap's 9,000 arguments, three for each entry.
constexpr std::array kSizes{10, 30, 100, 300, 1'000, 2'500};
// From here on the entries are what costs, and a fit is about them.
constexpr int kCostly = 100;

// bubblewrap's own time grows with the square of the size: seconds where it is large.
constexpr int kMostRounds = 15;
constexpr int kFewestRounds = 3;
constexpr std::chrono::seconds kPatience{5};

// The helper's own time on a processor for one execution, and bubblewrap alone from start to end.
// The first execution is not counted: it fills what the helper keeps. Nothing where bubblewrap is
// so slow that the helper gives the jail up (30 s).
std::optional<Pair> cost_of(const Setup& setup) {
  Broker broker(setup.helper, setup.policy, {"--no-warm"});
  broker.greet();
  if (!try_run_in(broker, setup)) return std::nullopt;
  const RawJail raw(setup);
  std::vector<double> own;
  std::vector<double> bare;
  const auto enough = std::chrono::steady_clock::now() + kPatience;
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= kFewestRounds && std::chrono::steady_clock::now() > enough) break;
    const double before = processor_ms(broker.pid());
    if (!try_run_in(broker, setup)) return std::nullopt;
    rest();
    own.push_back(processor_ms(broker.pid()) - before);
    bare.push_back(time_once([&] { raw.run(); }));
  }
  return Pair{.ours = spread_of(std::move(own)), .yardstick = spread_of(std::move(bare))};
}

// The setup with a file for each entry of that list.
Setup with_entries(const Setup& setup, const SizedList& list, int size) {
  Setup bigger = setup;
  const std::string place = (list.in_workspace ? setup.workspace : setup.beside) + "/" + list.name;
  std::filesystem::create_directories(place);
  for (int i = 0; i < size; ++i) {
    const std::string file = place + "/" + std::to_string(i);
    std::ofstream(file) << "x";
    list.add(bigger.policy, *AbsolutePath::parse(file));
  }
  return bigger;
}

double n_log_n(double size) { return size * std::log(size); }

struct Costs {
  std::vector<double> sizes;
  std::vector<double> own;
  std::vector<double> raw;
};

// The exponents of cost = size^e: the helper's must not be above that of n log n at these sizes.
void add_exponents(const SizedList& list, const Costs& costs, Report& report) {
  if (costs.sizes.size() < 2) return;
  std::vector<double> bound;
  for (const double size : costs.sizes) bound.push_back(n_log_n(size));
  report.add({.name = std::string(list.name) + ", exponent",
              .unit = "",
              .ours = once(fit_power(costs.sizes, costs.own).exponent),
              .beside = "n log n",
              .yardstick = once(fit_power(costs.sizes, bound).exponent),
              .kind = Bound::kAtMost,
              .bound = 1});
  report.add({.name = std::string(list.name) + ", bubblewrap's exponent",
              .unit = "",
              .ours = once(fit_power(costs.sizes, costs.raw).exponent)});
}

void measure_list(const Setup& setup, const SizedList& list, Report& report) {
  Costs costs;
  for (const int size : kSizes) {
    const std::string name = std::string(list.name) + " " + std::to_string(size);
    const auto cost = cost_of(with_entries(setup, list, size));
    if (!cost) {
      report.note(name + ": not measured, no jail was ready in time");
      continue;
    }
    Figure figure{.name = name,
                  .unit = "ms",
                  .ours = cost->ours,
                  .beside = "raw bubblewrap",
                  .yardstick = cost->yardstick};
    if (size == 1'000 && list.name == std::string("protected")) {
      figure.kind = Bound::kAtMost;
      figure.judge = Judge::kOurs;
      figure.bound = 10;
    }
    report.add(std::move(figure));
    if (size < kCostly) continue;
    costs.sizes.push_back(size);
    costs.own.push_back(cost->ours.median);
    costs.raw.push_back(cost->yardstick.median);
  }
  add_exponents(list, costs, report);
}

}  // namespace

std::vector<std::string> sized_list_names() {
  std::vector<std::string> names;
  for (const SizedList& list : kLists) names.emplace_back(list.name);
  return names;
}

void bench_sizes(const Setup& setup, Report& report) {
  for (const SizedList& list : kLists) {
    const bool wanted = setup.lists.empty() || std::find(setup.lists.begin(), setup.lists.end(),
                                                         list.name) != setup.lists.end();
    if (wanted) measure_list(setup, list, report);
  }
}

}  // namespace loom::bench
