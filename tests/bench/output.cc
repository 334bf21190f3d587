#include <loom/check.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/child_process.h"
#include "tests/bench/parts.h"

namespace loom::bench {
namespace {

constexpr double kMsPerSecond = 1'000;
constexpr double kBytesPerMiB = 1u << 20;

// A program that prints so much.
struct Printer {
  std::vector<std::string> argv;
  std::uint64_t bytes = 0;
  [[nodiscard]] double mib() const { return static_cast<double>(bytes) / kBytesPerMiB; }
};

// In large pieces.
Printer flood(const Setup& setup) {
  constexpr std::uint64_t kBytes = 256u << 20;
  const std::string file = setup.workspace + "/output";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, kBytes);
  return {.argv = {"/usr/bin/cat", file}, .bytes = kBytes};
}

// In small ones, as programs print that do not buffer.
Printer drizzle() {
  constexpr std::uint64_t kPiece = 64;
  constexpr std::uint64_t kPieces = 1u << 16;
  return {.argv = {"/usr/bin/dd", "if=/dev/zero", "bs=" + std::to_string(kPiece),
                   "count=" + std::to_string(kPieces), "status=none"},
          .bytes = kPiece * kPieces};
}

// Reads to the end; how many reads it took.
std::uint64_t drain(int fd, std::uint64_t due) {
  static std::vector<char> buffer(1u << 18);
  std::uint64_t bytes = 0;
  std::uint64_t reads = 0;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes += static_cast<std::uint64_t>(got);
    ++reads;
  }
  LOOM_CHECK(bytes == due);
  return reads;
}

std::uint64_t print_through_a_pipe(const Printer& printer) {
  const ChildProcess child = start_child({.argv = printer.argv, .piped = true});
  const std::uint64_t reads = drain(child.out.get(), printer.bytes);
  LOOM_CHECK(wait_for(child) == 0);
  return reads;
}

// The yardstick: the same program, or another one that prints as much, through a pipe.
struct Yardstick {
  const char* name;
  const Printer& printer;
};

// As many processes as with a helper between program and reader.
Printer through_another_cat(const Printer& cat) {
  return {.argv = {"/bin/sh", "-c", "cat \"$1\" | cat", "sh", cat.argv[1]}, .bytes = cat.bytes};
}

Figure throughput(const char* name, const Printer& printer, Broker& broker, const Setup& setup,
                  const Yardstick& yardstick) {
  const auto per_second = [&](double ms) { return printer.mib() * kMsPerSecond / ms; };
  const auto ours = [&] {
    rest();
    return per_second(time_once([&] {
      broker.start(printer.argv, setup.workspace);
      LOOM_CHECK(broker.skim_to_exit() > printer.bytes);
    }));
  };
  const auto bare = [&] {
    rest();
    return per_second(time_once([&] { print_through_a_pipe(yardstick.printer); }));
  };
  ours();
  const Pair pair = alternate(std::max(5, setup.rounds / 10), ours, bare);
  return {.name = name,
          .unit = "MiB/s",
          .ours = pair.ours,
          .beside = yardstick.name,
          .yardstick = pair.yardstick};
}

// How many frames a broker must take apart, beside how often a reader of the bare pipe wakes.
Figure frames(const char* name, const Printer& printer, Broker& broker, const Setup& setup) {
  const auto ours = [&] {
    rest();
    broker.start(printer.argv, setup.workspace);
    const Broker::Heard heard = broker.read_to_exit();
    LOOM_CHECK(heard.bytes == printer.bytes);
    return static_cast<double>(heard.frames) / printer.mib();
  };
  const auto bare = [&] {
    rest();
    return static_cast<double>(print_through_a_pipe(printer)) / printer.mib();
  };
  const Pair pair = alternate(std::max(5, setup.rounds / 10), ours, bare);
  return {.name = name,
          .unit = "1/MiB",
          .ours = pair.ours,
          .beside = "reads of a pipe",
          .yardstick = pair.yardstick};
}

}  // namespace

void bench_output(const Setup& setup, Report& report) {
  Broker broker(setup.helper, setup.policy);
  broker.greet();
  const Printer large = flood(setup);
  const char* same = "the same through a pipe";
  Figure floods = throughput("output, cat", large, broker, setup, {same, large});
  floods.kind = Bound::kAtLeast;
  floods.bound = 0.8;
  report.add(std::move(floods));
  const Printer relayed = through_another_cat(large);
  report.add(throughput("output, cat", large, broker, setup, {"cat | cat", relayed}));
  const Printer small = drizzle();
  report.add(throughput("output, 64 bytes a write", small, broker, setup, {same, small}));
  report.add(frames("frames, 64 bytes a write", small, broker, setup));
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
              .yardstick = pair.yardstick});
  broker.write_stdin(id, "", true);
  broker.read_to_exit();
  bare.in.reset();
  wait_for(bare);
}

}  // namespace loom::bench
