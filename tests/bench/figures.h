#pragma once

#include <functional>
#include <string>
#include <vector>

namespace loom::bench {

// Of some repeated measurements: half of them lie between the quartiles.
struct Spread {
  double median = 0;
  double lower = 0;  // quartiles
  double upper = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);
// Of something counted or measured one time.
[[nodiscard]] Spread once(double value);

enum class Bound { kNone, kAtMost, kAtLeast };
// What a bound is about; without a yardstick, always ours.
enum class Judge { kRatio, kOurs };

// One line: what was measured, what stands beside it, and how the two relate.
struct Figure {
  std::string name{};
  std::string unit{};
  Spread ours{};
  std::string beside{};  // the yardstick; empty: there is none, and the bound is ours' own
  Spread yardstick{};
  Bound kind = Bound::kNone;
  Judge judge = Judge::kRatio;
  double bound = 0;
  int again = 0;  // as Pair

  [[nodiscard]] double ratio() const { return ours.median / yardstick.median; }
  [[nodiscard]] double judged() const {
    return beside.empty() || judge == Judge::kOurs ? ours.median : ratio();
  }
  [[nodiscard]] bool kept() const;
};

// What share of the processors' time went to nobody here: the host of a virtual machine gave it to
// others (proc_stat(5), "steal"). 0 where nothing tells.
class TakenTime {
 public:
  TakenTime() : start_(read()) {}
  [[nodiscard]] double share() const;  // since the construction
  [[nodiscard]] bool any() const;

 private:
  struct Ticks {
    double taken = 0;
    double all = 0;
  };
  static Ticks read();
  Ticks start_;
};

// Prints each figure as it comes, and keeps all.
class Report {
 public:
  void add(Figure figure);
  // Prints why a figure is missing, or what to think of all of them.
  void note(const std::string& text) const;
  // One JSON document (docs/performance.md). False: it could not be written.
  [[nodiscard]] bool write_json(const std::string& file) const;
  [[nodiscard]] double taken_by_host() const { return taken_.share(); }
  // Of all figures.
  [[nodiscard]] int measured_again() const;

 private:
  std::vector<Figure> figures_;
  TakenTime taken_;
};

// Milliseconds that `action` took.
[[nodiscard]] double time_once(const std::function<void()>& action);

// Takes turns, so that whatever else the machine does meets both alike.
struct Pair {
  Spread ours{};
  Spread yardstick{};
  int again = 0;  // rounds that were left out
};
[[nodiscard]] Pair alternate(int rounds, const std::function<double()>& ours,
                             const std::function<double()>& yardstick);
// For what takes a moment: a round, both sides of it, during which the host of a virtual machine
// took time (TakenTime) is left out and measured again. No more than three rounds are measured for
// each that is wanted; after that one counts whatever the host did.
[[nodiscard]] Pair alternate_undisturbed(int rounds, const std::function<double()>& ours,
                                         const std::function<double()>& yardstick);

// The exponent e and the factor of cost = factor * size^e that fit best, on a logarithmic scale.
struct Fit {
  double exponent = 0;
  double factor = 0;
};
[[nodiscard]] Fit fit_power(const std::vector<double>& sizes, const std::vector<double>& costs);

}  // namespace loom::bench
