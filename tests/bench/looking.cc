#include "tests/bench/looking.h"

#include <loom/check.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "host/process_table.h"

namespace loom::bench {
namespace {

std::string proc(int pid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// A process may end while it is looked at; then it has no children.
std::vector<std::int32_t> children_of(int pid) {
  return host::read_children(pid).value_or(std::vector<std::int32_t>());
}

}  // namespace

double kib_of(int pid, const std::string& file, const std::string& field) {
  std::ifstream status(proc(pid, file));
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(field, 0) == 0) return std::strtod(line.c_str() + field.size(), nullptr);
  }
  return 0;
}

double family_kib(int pid) {
  double sum = kib_of(pid, "smaps_rollup", "Pss:");
  for (const std::int32_t child : children_of(pid)) sum += family_kib(child);
  return sum;
}

double processor_ms(int pid) {
  constexpr double kNsPerMs = 1e6;
  std::ifstream file(proc(pid, "schedstat"));
  double ns = 0;
  LOOM_CHECK(file >> ns);
  return ns / kNsPerMs;
}

bool jail_waits(int helper) {
  const std::vector<std::int32_t> children = children_of(helper);
  return std::any_of(children.begin(), children.end(), [](std::int32_t child) {
    std::ifstream file(proc(child, "comm"));
    std::string name;
    std::getline(file, name);
    return name == "loom-stage2" || jail_waits(child);
  });
}

bool wait_for_jail(int helper) {
  constexpr int kLooks = 200;
  constexpr std::chrono::milliseconds kPause{5};
  for (int looks = 0; looks < kLooks; ++looks) {
    if (jail_waits(helper)) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace loom::bench
