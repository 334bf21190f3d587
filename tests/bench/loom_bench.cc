// What a jail costs beside the bare tools, measured in the same run (docs/bench.md). Prints ratios
// and the bound each must keep; never fails on a time.

#include <fcntl.h>
#include <loom/check.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/log.h"
#include "app/prepare_run.h"
#include "app/session.h"
#include "host/memory_file.h"
#include "tests/bench/broker.h"
#include "tests/bench/child_process.h"

namespace loom::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Setup {
  std::string helper;
  std::string workspace;
  Policy policy;
  int rounds = 100;
};

double millis(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double time_once(const std::function<void()>& action) {
  const auto start = Clock::now();
  action();
  return millis(Clock::now() - start);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Pair {
  double ours;
  double yardstick;
};

// Takes turns, so that whatever else the machine does meets both alike.
Pair alternate(int rounds, const std::function<void()>& ours,
               const std::function<void()>& yardstick) {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 0; i < rounds; ++i) {
    first.push_back(time_once(ours));
    second.push_back(time_once(yardstick));
  }
  return {median(first), median(second)};
}

void print_row(const char* what, Pair pair, const char* unit, const char* beside, double bound,
               bool at_most) {
  const double ratio = pair.ours / pair.yardstick;
  const bool kept = at_most ? ratio <= bound : ratio >= bound;
  std::printf("%-34s %9.3f %-5s %-30s %9.3f  ratio %6.3f  (%s %.2f: %s)\n", what, pair.ours, unit,
              beside, pair.yardstick, ratio, at_most ? "at most" : "at least", bound,
              kept ? "kept" : "MISSED");
  std::fflush(stdout);
}

// What bubblewrap gets for this policy from the helper: options, and sources by handle.
LaunchSpec executed_launch(const Setup& setup) {
  auto log = app::make_log();
  const auto installation = host::find_installation();
  LOOM_CHECK(installation.has_value());
  host::Installation beside = *installation;
  const auto root = std::filesystem::path(setup.helper).parent_path().parent_path();
  beside.backend_directory = root / "lib/loom-exec/backends";
  beside.libexec_directory = root / "libexec/loom-exec";
  app::SessionOptions options;
  options.search_path = "/usr/bin:/bin";
  auto session = app::Session::open(beside, std::move(options), log);
  LOOM_CHECK(session.has_value());
  const auto run = app::prepare_run(**session, {.argv = {"/usr/bin/true"},
                                                .environment = {},
                                                .cwd = setup.workspace,
                                                .policy = setup.policy});
  LOOM_CHECK(run.has_value());
  return run->launch;
}

// The sources, opened once: a yardstick has no names to look up. Above every number that they get.
std::vector<UniqueFd> open_sources(const LaunchSpec& launch, std::vector<LentFd>& lent) {
  constexpr int kAboveAll = 200;
  std::vector<UniqueFd> sources;
  for (const LentHandle& handle : launch.handles) {
    if (handle.role != LentHandle::Role::kSource) continue;
    const UniqueFd low(::open(handle.path.str().c_str(), O_PATH | O_CLOEXEC));
    sources.emplace_back(::fcntl(low.get(), F_DUPFD_CLOEXEC, kAboveAll));
    LOOM_CHECK(sources.back() && handle.child_number < kAboveAll);
    lent.push_back({.fd = sources.back().get(), .number = handle.child_number});
  }
  return sources;
}

void bench_cold(const Setup& setup) {
  const LaunchSpec launch = executed_launch(setup);
  const auto options = std::find_if(launch.memory_files.begin(), launch.memory_files.end(),
                                    [](const MemoryFile& file) { return file.child_number != 3; });
  LOOM_CHECK(options != launch.memory_files.end());
  std::vector<LentFd> lent;
  const std::vector<UniqueFd> sources = open_sources(launch, lent);
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  const auto ours = [&] {
    broker.start({"/usr/bin/true"}, setup.workspace);
    broker.read_to_exit();
  };
  const auto raw = [&] {
    auto file = host::make_memory_file("options", options->bytes);
    LOOM_CHECK(file.has_value());
    const UniqueFd high(::fcntl(file->get(), F_DUPFD_CLOEXEC, 200));
    std::vector<LentFd> all = lent;
    all.push_back({.fd = high.get(), .number = 10});
    const ChildProcess child = start_child(
        {.argv = {"/usr/bin/bwrap", "--args", "10", "/usr/bin/true"}, .lent = std::move(all)});
    LOOM_CHECK(wait_for(child) == 0);
  };
  ours();
  raw();
  print_row("cold execution", alternate(setup.rounds, ours, raw), "ms",
            "raw bubblewrap, same options", 1.25, true);
}

void bench_hello(const Setup& setup) {
  const auto ours = [&] {
    Broker broker(setup.helper, setup.policy);
    LOOM_CHECK(broker.read_frame().kind == "hello");
  };
  // The helper's leaving is not part of its hello.
  std::vector<double> hello;
  std::vector<double> spawn;
  ours();
  for (int i = 0; i < setup.rounds; ++i) {
    const auto start = Clock::now();
    Broker broker(setup.helper, setup.policy);
    LOOM_CHECK(broker.read_frame().kind == "hello");
    hello.push_back(millis(Clock::now() - start));
    spawn.push_back(time_once([] { wait_for(start_child({.argv = {"/usr/bin/true"}})); }));
  }
  print_row("start to hello", {median(hello), median(spawn)}, "ms", "spawn of /usr/bin/true", 4.0,
            true);
}

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

void bench_why(const Setup& setup) {
  const std::string policy = write_policy(setup);
  const auto run = [](std::vector<std::string> argv) {
    LOOM_CHECK(wait_for(start_child({.argv = std::move(argv)})) == 0);
  };
  const std::vector<std::pair<std::string, std::string>> questions = {
      {"read", "/etc/passwd"}, {"write", policy}, {"execute", "/usr/bin/true"}};
  for (const auto& [operation, path] : questions) {
    const auto ours = [&] { run({setup.helper, "why", "--policy", policy, operation, path}); };
    const auto yardstick = [&] { run({"/usr/bin/true"}); };
    ours();
    print_row(("why " + operation).c_str(), alternate(setup.rounds, ours, yardstick), "ms",
              "spawn of /usr/bin/true", 4.0, true);
  }
}

std::uint64_t drain(int fd) {
  static std::vector<char> buffer(1u << 18);
  std::uint64_t bytes = 0;
  ssize_t got = 0;
  while ((got = ::read(fd, buffer.data(), buffer.size())) > 0) {
    bytes += static_cast<std::uint64_t>(got);
  }
  return bytes;
}

void bench_output(const Setup& setup) {
  constexpr std::uintmax_t kBytes = 256u << 20;
  const std::string file = setup.workspace + "/output";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, kBytes);
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  const auto ours = [&] {
    broker.start({"/usr/bin/cat", file}, setup.workspace);
    LOOM_CHECK(broker.skim_to_exit() > kBytes);
  };
  const auto bare = [&] {
    ChildProcess child = start_child({.argv = {"/usr/bin/cat", file}, .piped = true});
    LOOM_CHECK(drain(child.out.get()) == kBytes);
    wait_for(child);
  };
  const Pair times = alternate(std::max(3, setup.rounds / 20), ours, bare);
  constexpr double kMiB = 256;
  print_row("output throughput", {kMiB * 1000 / times.ours, kMiB * 1000 / times.yardstick}, "MiB/s",
            "cat through a pipe", 0.5, false);
}

// Waits until the command printed its first byte, so that the cancel meets a running payload.
void wait_for_output(Broker& broker) {
  while (broker.read_frame().kind != "exec_out") {
  }
}

void bench_cancel(const Setup& setup) {
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  std::vector<double> times;
  for (int i = 0; i < setup.rounds / 2; ++i) {
    const std::uint64_t id =
        broker.start({"/bin/sh", "-c", "echo ready; exec sleep 100"}, setup.workspace);
    wait_for_output(broker);
    times.push_back(time_once([&] {
      broker.cancel(id);
      broker.read_to_exit();
    }));
  }
  const double middle = median(times);
  std::printf("%-34s %9.3f ms    (at most 10 ms: %s)\n", "cancel to exec_exit", middle,
              middle <= 10 ? "kept" : "MISSED");
}

double resident_mib(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmRSS:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

void bench_memory(const Setup& setup) {
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  broker.start({"/usr/bin/true"}, setup.workspace);
  broker.read_to_exit();
  const double idle = resident_mib(broker.pid());
  std::printf("%-34s %9.3f MiB   (at most 8 MiB: %s)\n", "resident, idle after one execution", idle,
              idle <= 8 ? "kept" : "MISSED");
}

Setup make_setup(const char* helper, const char* rounds) {
  Setup setup;
  setup.helper = std::filesystem::canonical(helper);
  // Not below /tmp: there the jail has its own.
  const char* base = std::getenv("LOOM_BENCH_DIR");
  std::string pattern = std::string(base == nullptr ? "/var/tmp" : base) + "/loom-bench-XXXXXX";
  LOOM_CHECK(::mkdtemp(pattern.data()) != nullptr);
  setup.workspace = pattern;
  setup.policy.writable_roots.push_back(*AbsolutePath::parse(setup.workspace));
  setup.policy.env_allow = {"PATH"};
  if (rounds != nullptr) setup.rounds = std::max(10, std::atoi(rounds));
  return setup;
}

}  // namespace
}  // namespace loom::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: loom-bench HELPER [ROUNDS]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const auto setup = loom::bench::make_setup(argv[1], argc > 2 ? argv[2] : nullptr);
  loom::bench::bench_cold(setup);
  loom::bench::bench_hello(setup);
  loom::bench::bench_why(setup);
  loom::bench::bench_output(setup);
  loom::bench::bench_cancel(setup);
  loom::bench::bench_memory(setup);
  std::filesystem::remove_all(setup.workspace);
  return 0;
}
