#include "tests/bench/setup.h"

#include <loom/check.h>

#include <thread>

#include "tests/bench/child_process.h"

namespace loom::bench {

void rest() { std::this_thread::sleep_for(kThinking); }

void run_true() { LOOM_CHECK(wait_for(start_child({.argv = {"/usr/bin/true"}})) == 0); }

bool try_run_in(Broker& broker, const Setup& setup) {
  broker.start({"/usr/bin/true"}, setup.workspace);
  return broker.read_to_exit().ended_well;
}

void run_in(Broker& broker, const Setup& setup) { LOOM_CHECK(try_run_in(broker, setup)); }

}  // namespace loom::bench
