#pragma once

#include <string>
#include <vector>

#include "tests/bench/figures.h"
#include "tests/bench/setup.h"

namespace loom::bench {

// One of what is measured; docs/performance.md describes every line that it prints.
struct Part {
  const char* name;
  void (*measure)(const Setup& setup, Report& report);
};

void bench_executions(const Setup& setup, Report& report);
void bench_hello(const Setup& setup, Report& report);
void bench_why(const Setup& setup, Report& report);
void bench_output(const Setup& setup, Report& report);
void bench_line(const Setup& setup, Report& report);
void bench_cancel(const Setup& setup, Report& report);
void bench_memory(const Setup& setup, Report& report);
void bench_sizes(const Setup& setup, Report& report);
void bench_fleet(const Setup& setup, Report& report);

// The lists of a policy that part sizes can fill.
[[nodiscard]] std::vector<std::string> sized_list_names();

}  // namespace loom::bench
