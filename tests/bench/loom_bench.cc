// What a jail costs beside the bare tools, measured in the same run (docs/bench.md). Prints ratios
// and the bound each must keep; never fails on a time.

#include <fcntl.h>
#include <loom/check.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/log.h"
#include "app/prepare_run.h"
#include "app/session.h"
#include "host/memory_file.h"
#include "host/process_table.h"
#include "tests/bench/broker.h"
#include "tests/bench/child_process.h"
#include "tests/bench/figures.h"

namespace loom::bench {
namespace {

struct Setup {
  std::string helper;
  std::string workspace;
  Policy policy;
  int rounds = 100;
};

void run_true() { LOOM_CHECK(wait_for(start_child({.argv = {"/usr/bin/true"}})) == 0); }

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

// Above every number that a launch gives its descriptors.
constexpr int kAboveAll = 4'000;

// The sources, opened once: a yardstick has no names to look up.
std::vector<UniqueFd> open_sources(const LaunchSpec& launch, std::vector<LentFd>& lent) {
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

// bubblewrap alone, with what the helper would give it.
class RawJail {
 public:
  explicit RawJail(const Setup& setup)
      : launch_(executed_launch(setup)), sources_(open_sources(launch_, lent_)) {
    for (const MemoryFile& file : launch_.memory_files) {
      if (file.child_number != 3) options_ = &file;
    }
    LOOM_CHECK(options_ != nullptr);
  }
  RawJail(const RawJail&) = delete;
  RawJail& operator=(const RawJail&) = delete;

  void run() const {
    auto file = host::make_memory_file("options", options_->bytes);
    LOOM_CHECK(file.has_value());
    const UniqueFd high(::fcntl(file->get(), F_DUPFD_CLOEXEC, kAboveAll));
    std::vector<LentFd> all = lent_;
    all.push_back({.fd = high.get(), .number = 10});
    const ChildProcess child = start_child(
        {.argv = {"/usr/bin/bwrap", "--args", "10", "/usr/bin/true"}, .lent = std::move(all)});
    LOOM_CHECK(wait_for(child) == 0);
  }

 private:
  LaunchSpec launch_;
  std::vector<LentFd> lent_;
  std::vector<UniqueFd> sources_;
  const MemoryFile* options_ = nullptr;
};

void run_in(Broker& broker, const Setup& setup) {
  broker.start({"/usr/bin/true"}, setup.workspace);
  broker.read_to_exit();
}

// How long a broker thinks before its next command, so that a jail waits for it.
constexpr std::chrono::milliseconds kThinking{30};

void bench_executions(const Setup& setup, Report& report) {
  const RawJail raw(setup);
  Broker cold(setup.helper, setup.policy, {"--no-warm"});
  Broker warm(setup.helper, setup.policy);
  cold.greet();
  warm.greet();
  const auto bare = [&] { return time_once([&] { raw.run(); }); };
  const auto on = [&](Broker& broker) {
    std::this_thread::sleep_for(kThinking);
    return time_once([&] { run_in(broker, setup); });
  };
  bare();
  on(cold);
  on(warm);
  const auto add = [&](const char* name, Broker& broker, double bound) {
    const Pair pair = alternate(
        setup.rounds, [&] { return on(broker); }, bare);
    report.add({.name = name,
                .unit = "ms",
                .ours = pair.ours,
                .beside = "raw bubblewrap, same options",
                .yardstick = pair.yardstick,
                .kind = Bound::kAtMost,
                .bound = bound});
  };
  add("cold execution", cold, 1.10);
  add("warm execution", warm, 0.30);
}

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
  const Pair pair = alternate(setup.rounds, ours, [] { return time_once(run_true); });
  report.add({.name = "start to hello",
              .unit = "ms",
              .ours = pair.ours,
              .beside = "spawn of /usr/bin/true",
              .yardstick = pair.yardstick,
              .kind = Bound::kAtMost,
              .bound = 3.0});
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
    const Pair pair = alternate(setup.rounds, ours, [] { return time_once(run_true); });
    report.add({.name = "why " + operation,
                .unit = "ms",
                .ours = pair.ours,
                .beside = "spawn of /usr/bin/true",
                .yardstick = pair.yardstick,
                .kind = Bound::kAtMost,
                .bound = 4.0});
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

void bench_output(const Setup& setup, Report& report) {
  constexpr std::uintmax_t kBytes = 256u << 20;
  constexpr double kMiB = 256;
  const std::string file = setup.workspace + "/output";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, kBytes);
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  const auto ours = [&] {
    return kMiB * 1000 / time_once([&] {
             broker.start({"/usr/bin/cat", file}, setup.workspace);
             LOOM_CHECK(broker.skim_to_exit() > kBytes);
           });
  };
  const auto bare = [&] {
    return kMiB * 1000 / time_once([&] {
             ChildProcess child = start_child({.argv = {"/usr/bin/cat", file}, .piped = true});
             LOOM_CHECK(drain(child.out.get()) == kBytes);
             wait_for(child);
           });
  };
  const Pair pair = alternate(std::max(5, setup.rounds / 20), ours, bare);
  report.add({.name = "output throughput",
              .unit = "MiB/s",
              .ours = pair.ours,
              .beside = "cat through a pipe",
              .yardstick = pair.yardstick,
              .kind = Bound::kAtLeast,
              .bound = 0.8});
}

// A line that comes back: what coalescing must not delay.
void bench_line(const Setup& setup, Report& report) {
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  const std::uint64_t id = broker.start({"/usr/bin/cat"}, setup.workspace);
  ChildProcess bare = start_child({.argv = {"/usr/bin/cat"}, .piped = true});
  const auto ours = [&] {
    return time_once([&] {
      broker.write_stdin(id, "a line\n", false);
      LOOM_CHECK(broker.read_frame().kind == "exec_out");
    });
  };
  const auto yardstick = [&] {
    return time_once([&] {
      char buffer[64];
      LOOM_CHECK(::write(bare.in.get(), "a line\n", 7) == 7);
      LOOM_CHECK(::read(bare.out.get(), buffer, sizeof buffer) == 7);
    });
  };
  ours();
  yardstick();
  const Pair pair = alternate(setup.rounds, ours, yardstick);
  report.add({.name = "a line there and back",
              .unit = "ms",
              .ours = pair.ours,
              .beside = "cat through pipes",
              .yardstick = pair.yardstick,
              .kind = Bound::kNone,
              .bound = 0});
  broker.write_stdin(id, "", true);
  broker.read_to_exit();
  bare.in.reset();
  wait_for(bare);
}

// Waits until the command printed its first byte, so that the cancel meets a running payload.
void wait_for_output(Broker& broker) {
  while (broker.read_frame().kind != "exec_out") {
  }
}

void bench_cancel(const Setup& setup, Report& report) {
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
  report.add({.name = "cancel to exec_exit",
              .unit = "ms",
              .ours = spread_of(std::move(times)),
              .kind = Bound::kAtMost,
              .bound = 10});
}

double kib_of(int pid, const std::string& file, const std::string& field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/" + file);
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(field, 0) == 0) return std::strtod(line.c_str() + field.size(), nullptr);
  }
  return 0;
}

// Proportional set size of a process and everything below it.
double family_kib(int pid) {
  double sum = kib_of(pid, "smaps_rollup", "Pss:");
  const auto children = host::read_children(pid);
  LOOM_CHECK(children.has_value());
  for (const std::int32_t child : *children) sum += family_kib(child);
  return sum;
}

void bench_memory(const Setup& setup, Report& report) {
  constexpr double kKibPerMib = 1024;
  const auto add = [&](const char* name, double kib, double bound) {
    const double mib = kib / kKibPerMib;
    report.add({.name = name,
                .unit = "MiB",
                .ours = {.median = mib, .lower = mib, .upper = mib},
                .kind = Bound::kAtMost,
                .bound = bound});
  };
  Broker cold(setup.helper, setup.policy, {"--no-warm"});
  cold.greet();
  run_in(cold, setup);
  add("resident, idle, no warm jail", kib_of(cold.pid(), "status", "VmRSS:"), 8);
  Broker warm(setup.helper, setup.policy);
  warm.greet();
  run_in(warm, setup);
  std::this_thread::sleep_for(kThinking * 10);
  add("PSS of all, idle, a jail waits", family_kib(warm.pid()), 12);
}

// ---- cost against size --------------------------------------------------------------------------

// Nanoseconds that a process spent on a processor.
double processor_ns(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
  double ns = 0;
  file >> ns;
  return ns;
}

using AddEntry = void (*)(Policy&, const AbsolutePath&);

struct SizedList {
  const char* name;
  AddEntry add;
};

constexpr SizedList kLists[] = {
    {"protected", [](Policy& p, const AbsolutePath& path) { p.protected_paths.push_back(path); }},
    {"readable_roots",
     [](Policy& p, const AbsolutePath& path) { p.readable_roots.push_back(path); }},
    {"writable_roots",
     [](Policy& p, const AbsolutePath& path) { p.writable_roots.push_back(path); }},
    {"mounts",
     [](Policy& p, const AbsolutePath& path) {
       p.mounts.push_back({.path = path, .writable = false});
     }},
};

constexpr int kSizes[] = {10, 30, 100, 300, 1'000, 2'500};

struct SizedCost {
  double helper_ms = 0;  // the helper's own time on a processor, one execution
  double raw_ms = 0;     // bubblewrap alone
};

SizedCost cost_at(const Setup& setup, int rounds) {
  Broker broker(setup.helper, setup.policy, {"--no-warm"});
  broker.greet();
  run_in(broker, setup);
  const RawJail raw(setup);
  raw.run();
  std::vector<double> helper;
  std::vector<double> bare;
  for (int i = 0; i < rounds; ++i) {
    const double before = processor_ns(broker.pid());
    run_in(broker, setup);
    helper.push_back((processor_ns(broker.pid()) - before) / 1e6);
    bare.push_back(time_once([&] { raw.run(); }));
  }
  return {.helper_ms = spread_of(helper).median, .raw_ms = spread_of(bare).median};
}

// A file for each entry: in a directory of its own for roots, so that none lies in another.
Setup sized(const Setup& setup, const SizedList& list, int size) {
  Setup bigger = setup;
  const std::string place = setup.workspace + "/" + list.name;
  std::filesystem::create_directories(place);
  for (int i = 0; i < size; ++i) {
    const std::string file = place + "/" + std::to_string(i);
    std::ofstream(file) << "x";
    list.add(bigger.policy, *AbsolutePath::parse(file));
  }
  return bigger;
}

void bench_sizes(const Setup& setup, Report& report) {
  for (const SizedList& list : kLists) {
    std::vector<double> sizes;
    std::vector<double> own;
    std::vector<double> raw;
    for (const int size : kSizes) {
      const Setup bigger = sized(setup, list, size);
      const SizedCost cost = cost_at(bigger, size > 500 ? 3 : 9);
      sizes.push_back(size);
      own.push_back(cost.helper_ms);
      raw.push_back(cost.raw_ms);
      report.add(
          {.name = std::string(list.name) + " " + std::to_string(size),
           .unit = "ms",
           .ours = {.median = cost.helper_ms, .lower = cost.helper_ms, .upper = cost.helper_ms},
           .beside = "raw bubblewrap",
           .yardstick = {.median = cost.raw_ms, .lower = cost.raw_ms, .upper = cost.raw_ms},
           .kind = Bound::kNone,
           .bound = 0});
    }
    const Fit ours = fit_power(sizes, own);
    const double largest_step = std::log(own.back() / own[own.size() - 2]) /
                                std::log(sizes.back() / sizes[sizes.size() - 2]);
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s: helper ~ n^%.2f (n^%.2f between the last two), bubblewrap ~ n^%.2f",
                  list.name, ours.exponent, largest_step, fit_power(sizes, raw).exponent);
    report.note(line);
  }
}

// ---- many helpers -------------------------------------------------------------------------------

void bench_fleet(const Setup& setup, Report& report) {
  constexpr int kHelpers = 64;
  constexpr int kRounds = 5;
  const int processors = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Broker>> brokers;
  const double storm = time_once([&] {
    for (int i = 0; i < kHelpers; ++i) {
      brokers.push_back(std::make_unique<Broker>(setup.helper, setup.policy,
                                                 std::vector<std::string>{"--no-warm"}));
    }
    for (const auto& broker : brokers) broker->greet();
  });
  const double spawns = time_once([] {
    std::vector<ChildProcess> children;
    for (int i = 0; i < kHelpers; ++i) children.push_back(start_child({.argv = {"/usr/bin/true"}}));
    for (const ChildProcess& child : children) wait_for(child);
  });
  const auto all_run = [&] {
    for (const auto& broker : brokers) broker->start({"/usr/bin/true"}, setup.workspace);
    for (const auto& broker : brokers) broker->read_to_exit();
  };
  all_run();
  const RawJail raw(setup);
  std::vector<double> ours;
  std::vector<double> bare;
  for (int i = 0; i < kRounds; ++i) {
    ours.push_back(kHelpers * 1000 / time_once(all_run));
    bare.push_back(1000 / time_once([&] { raw.run(); }));
  }
  double kib = 0;
  for (const auto& broker : brokers) kib += family_kib(broker->pid());
  const auto one = [](double value) {
    return Spread{.median = value, .lower = value, .upper = value};
  };
  report.add({.name = "64 helpers to their hello",
              .unit = "ms",
              .ours = one(storm),
              .beside = "64 spawns of /usr/bin/true",
              .yardstick = one(spawns),
              .kind = Bound::kNone,
              .bound = 0});
  report.add({.name = "64 helpers, executions",
              .unit = "1/s",
              .ours = spread_of(std::move(ours)),
              .beside = "raw bubblewrap, one after the other",
              .yardstick = spread_of(std::move(bare)),
              .kind = Bound::kNone,
              .bound = 0});
  report.add({.name = "64 helpers, PSS each",
              .unit = "MiB",
              .ours = one(kib / kHelpers / 1024),
              .kind = Bound::kNone,
              .bound = 0});
  report.note("on " + std::to_string(processors) + " processors");
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
    std::fprintf(stderr, "usage: loom-bench HELPER [ROUNDS [JSON-FILE]]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const auto setup = loom::bench::make_setup(argv[1], argc > 2 ? argv[2] : nullptr);
  loom::bench::Report report;
  loom::bench::bench_executions(setup, report);
  loom::bench::bench_hello(setup, report);
  loom::bench::bench_why(setup, report);
  loom::bench::bench_output(setup, report);
  loom::bench::bench_line(setup, report);
  loom::bench::bench_cancel(setup, report);
  loom::bench::bench_memory(setup, report);
  loom::bench::bench_sizes(setup, report);
  loom::bench::bench_fleet(setup, report);
  std::filesystem::remove_all(setup.workspace);
  if (argc > 3 && !report.write_json(argv[3])) {
    std::fprintf(stderr, "loom-bench: %s could not be written\n", argv[3]);
    return 1;
  }
  return 0;
}
