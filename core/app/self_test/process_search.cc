#include "app/self_test/process_search.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "app/self_test/command_line.h"
#include "host/process_table.h"

namespace loom::app {
namespace {

constexpr std::chrono::milliseconds kPatience{2'000};
constexpr std::chrono::milliseconds kPause{20};

template <class Condition>
bool becomes_true(Condition condition, StopSignals& stop) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline || stop.came()) return false;
    stop.pause(kPause);
  }
  return true;
}

}  // namespace

std::vector<std::int32_t> find_processes(std::string_view word) {
  std::vector<std::int32_t> found;
  const auto table = host::read_process_table();
  if (!table) return found;
  for (const ProcessRow& row : *table) {
    if (row.pid == ::getpid()) continue;
    if (command_line(row.pid).find(word) != std::string::npos) found.push_back(row.pid);
  }
  return found;
}

bool process_appears(std::string_view word, StopSignals& stop) {
  return becomes_true([&] { return !find_processes(word).empty(); }, stop);
}

bool processes_vanish(std::string_view word, StopSignals& stop) {
  return becomes_true([&] { return find_processes(word).empty(); }, stop);
}

}  // namespace loom::app
