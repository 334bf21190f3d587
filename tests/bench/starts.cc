#include <loom/check.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/child_process.h"
#include "tests/bench/parts.h"

namespace loom::bench {
namespace {

// With an exec table, as whoever asks has one.
std::string write_policy(const Setup& setup) {
  const std::string file = setup.workspace + "/policy.json";
  std::ofstream(file) << R"({"v":3,"writable_roots":[")" << setup.workspace << R"("],)"
                      << R"("readable_roots":[],"protected":[],"mounts":[],"scratch":"tmpfs",)"
                      << R"("network":{"mode":"off"},"limits":{"cpu_s":0,"wall_s":0,)"
                      << R"("mem_bytes":0,"pids":0,"fsize_bytes":0,"output_bytes":0},)"
                      << R"("env_allow":["PATH"],"exec":{"default":"deny",)"
                      << R"("allow":[{"kind":"dir","value":"/usr/bin"}],)"
                      << R"("deny":[{"kind":"name","value":"curl"}],)"
                      << R"("support":"system","memfd":"noexec","required":true}})";
  return file;
}

Figure beside_a_spawn(std::string name, const Pair& pair, double bound) {
  return {.name = std::move(name),
          .unit = "ms",
          .ours = pair.ours,
          .beside = "spawn of /usr/bin/true",
          .yardstick = pair.yardstick,
          .kind = Bound::kAtMost,
          .bound = bound,
          .again = pair.again};
}

}  // namespace

void bench_hello(const Setup& setup, Report& report) {
  // The helper's leaving is not part of its hello.
  const auto ours = [&] {
    std::optional<Broker> broker;
    return time_once([&] {
      broker.emplace(setup.helper, setup.policy);
      LOOM_CHECK(broker->read_frame().kind == "hello");
    });
  };
  ours();
  const Pair pair = alternate_undisturbed(setup.rounds, ours, [] { return time_once(run_true); });
  report.add(beside_a_spawn("start to hello", pair, 3.0));
}

void bench_why(const Setup& setup, Report& report) {
  const std::string policy = write_policy(setup);
  const std::vector<std::pair<std::string, std::string>> questions = {
      {"read", "/etc/passwd"}, {"write", policy}, {"execute", "/usr/bin/true"}};
  for (const auto& [operation, path] : questions) {
    const auto ours = [&, &operation = operation, &path = path] {
      return time_once([&] {
        const ChildProcess asked =
            start_child({.argv = {setup.helper, "why", "--policy", policy, operation, path}});
        LOOM_CHECK(wait_for(asked) == 0);
      });
    };
    ours();
    const Pair pair = alternate_undisturbed(setup.rounds, ours, [] { return time_once(run_true); });
    report.add(beside_a_spawn("why " + operation, pair, 4.0));
  }
}

}  // namespace loom::bench
