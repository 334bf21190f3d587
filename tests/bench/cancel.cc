#include <algorithm>
#include <utility>
#include <vector>

#include "tests/bench/parts.h"

namespace loom::bench {

// A sleeping command is cancelled once it printed something, so that the cancel meets it running.
void bench_cancel(const Setup& setup, Report& report) {
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  std::vector<double> times;
  for (int i = 0; i < std::max(10, setup.rounds / 2); ++i) {
    const std::uint64_t id =
        broker.start({"/bin/sh", "-c", "echo ready; exec sleep 100"}, setup.workspace);
    while (broker.read_frame().kind != "exec_out") {
    }
    rest();
    times.push_back(time_once([&] {
      broker.cancel(id);
      broker.read_to_exit();
    }));
  }
  report.add({.name = "cancel to exec_exit",
              .unit = "ms",
              .ours = spread_of(std::move(times)),
              .kind = Bound::kAtMost,
              .bound = 10});
}

}  // namespace loom::bench
