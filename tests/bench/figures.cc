#include "tests/bench/figures.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>
#include <utility>

namespace loom::bench {
namespace {

constexpr int kJsonVersion = 1;
constexpr int kMostRounds = 3;  // for each that is wanted

nlohmann::ordered_json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"lower", spread.lower}, {"upper", spread.upper}};
}

nlohmann::ordered_json json_of(const Figure& figure) {
  nlohmann::ordered_json object{
      {"name", figure.name}, {"unit", figure.unit}, {"ours", json_of(figure.ours)}};
  if (!figure.beside.empty()) {
    object["beside"] = figure.beside;
    object["yardstick"] = json_of(figure.yardstick);
    object["ratio"] = figure.ratio();
    object["measured_again"] = figure.again;
  }
  if (figure.kind != Bound::kNone) {
    object["judged"] = figure.judged();
    object[figure.kind == Bound::kAtMost ? "at_most" : "at_least"] = figure.bound;
    object["kept"] = figure.kept();
  }
  return object;
}

// What ratios depend on too, without names.
nlohmann::ordered_json machine() {
  utsname kernel{};
  ::uname(&kernel);
  return {{"processors", std::thread::hardware_concurrency()},
          {"architecture", kernel.machine},
          {"kernel", kernel.release}};
}

// `spare`: so many rounds may be left out.
Pair take_turns(int rounds, int spare, const std::function<double()>& ours,
                const std::function<double()>& yardstick) {
  std::vector<double> first;
  std::vector<double> second;
  int again = 0;
  while (first.size() < static_cast<std::size_t>(rounds)) {
    const TakenTime taken;
    const double one = ours();
    const double other = yardstick();
    if (again < spare && taken.any()) {
      ++again;
      continue;
    }
    first.push_back(one);
    second.push_back(other);
  }
  return {.ours = spread_of(std::move(first)),
          .yardstick = spread_of(std::move(second)),
          .again = again};
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t size = values.size();
  return {.median = values[size / 2], .lower = values[size / 4], .upper = values[size * 3 / 4]};
}

Spread once(double value) { return {.median = value, .lower = value, .upper = value}; }

bool Figure::kept() const {
  return kind == Bound::kNone || (kind == Bound::kAtMost ? judged() <= bound : judged() >= bound);
}

TakenTime::Ticks TakenTime::read() {
  // The first line: "cpu", and then user, nice, system, idle, iowait, irq, softirq, steal.
  constexpr int kFields = 8;
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  Ticks ticks;
  for (int i = 0; i < kFields && file >> ticks.taken; ++i) ticks.all += ticks.taken;
  return ticks;
}

double TakenTime::share() const {
  const Ticks now = read();
  return now.all > start_.all ? (now.taken - start_.taken) / (now.all - start_.all) : 0;
}

bool TakenTime::any() const { return read().taken > start_.taken; }

int Report::measured_again() const {
  return std::accumulate(figures_.begin(), figures_.end(), 0,
                         [](int sum, const Figure& figure) { return sum + figure.again; });
}

void Report::add(Figure figure) {
  std::printf("%-32s %9.3f %-5s [%.3f, %.3f]", figure.name.c_str(), figure.ours.median,
              figure.unit.c_str(), figure.ours.lower, figure.ours.upper);
  if (!figure.beside.empty()) {
    std::printf("  %s %.3f [%.3f, %.3f]  ratio %.3f", figure.beside.c_str(),
                figure.yardstick.median, figure.yardstick.lower, figure.yardstick.upper,
                figure.ratio());
  }
  if (figure.kind != Bound::kNone) {
    std::printf("  (at %s %.2f: %s)", figure.kind == Bound::kAtMost ? "most" : "least",
                figure.bound, figure.kept() ? "kept" : "MISSED");
  }
  std::printf("\n");
  std::fflush(stdout);
  figures_.push_back(std::move(figure));
}

void Report::note(const std::string& text) const {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

bool Report::write_json(const std::string& file) const {
  nlohmann::ordered_json document{{"v", kJsonVersion}, {"machine", machine()}};
  document["machine"]["taken_by_host"] = taken_by_host();
  for (const Figure& figure : figures_) document["figures"].push_back(json_of(figure));
  std::ofstream out(file);
  out << document.dump(2) << "\n";
  return static_cast<bool>(out.flush());
}

double time_once(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

Pair alternate(int rounds, const std::function<double()>& ours,
               const std::function<double()>& yardstick) {
  return take_turns(rounds, 0, ours, yardstick);
}

Pair alternate_undisturbed(int rounds, const std::function<double()>& ours,
                           const std::function<double()>& yardstick) {
  return take_turns(rounds, (kMostRounds - 1) * rounds, ours, yardstick);
}

Fit fit_power(const std::vector<double>& sizes, const std::vector<double>& costs) {
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  const auto count = static_cast<double>(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double a = std::log(sizes[i]);
    const double b = std::log(costs[i]);
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  const double exponent = (count * xy - x * y) / (count * xx - x * x);
  return {.exponent = exponent, .factor = std::exp((y - exponent * x) / count)};
}

}  // namespace loom::bench
