#include <loom/check.h>

#include "tests/bench/looking.h"
#include "tests/bench/parts.h"

namespace loom::bench {

void bench_memory(const Setup& setup, Report& report) {
  constexpr double kKibPerMib = 1024;
  const auto add = [&](const char* name, double kib, double bound) {
    report.add({.name = name,
                .unit = "MiB",
                .ours = once(kib / kKibPerMib),
                .kind = Bound::kAtMost,
                .bound = bound});
  };
  Broker cold(setup.helper, setup.policy, {"--no-warm"});
  cold.greet();
  run_in(cold, setup);
  rest();
  add("resident, idle, no warm jail", kib_of(cold.pid(), "status", "VmRSS:"), 8);
  Broker warm(setup.helper, setup.policy);
  warm.greet();
  run_in(warm, setup);
  LOOM_CHECK(wait_for_jail(warm.pid()));
  rest();
  add("PSS of all, idle, a jail waits", family_kib(warm.pid()), 12);
}

}  // namespace loom::bench
