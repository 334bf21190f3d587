#pragma once

#include <loom/bytes.h>
#include <loom/policy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/frame_reader.h"
#include "protocol/messages.h"
#include "tests/bench/child_process.h"

namespace loom::bench {

// A broker just good enough to measure with: starts one helper and speaks to it.
class Broker {
 public:
  // Started, nothing read yet.
  Broker(const std::string& helper, const Policy& policy, std::vector<std::string> flags = {});
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // The helper's hello, answered with ours.
  void greet();
  // Reads whatever comes, without taking frames apart, until a small frame of kind exec_exit;
  // returns the bytes read. What a broker does with output is not the helper's cost.
  std::uint64_t skim_to_exit();
  // Sends exec_start; returns its id.
  std::uint64_t start(const std::vector<std::string>& argv, const std::string& cwd);
  void cancel(std::uint64_t id);
  void write_stdin(std::uint64_t id, std::string_view data, bool eof);
  // What came of an execution.
  struct Heard {
    bool ended_well = false;
    std::uint64_t bytes = 0;
    std::uint64_t frames = 0;
  };
  // Reads frames until exec_exit.
  Heard read_to_exit();
  // An execution with nothing of the broker's own work between its two ends: the frame is made
  // before, and taken apart after.
  [[nodiscard]] Bytes start_frame(const std::vector<std::string>& argv, const std::string& cwd);
  void write(ByteView frame);
  [[nodiscard]] Bytes read_exit_frame();
  [[nodiscard]] static bool ended_well(Bytes exit_frame);
  // Reads one frame.
  [[nodiscard]] Frame read_frame();
  [[nodiscard]] int pid() const noexcept { return child_.pid; }

 private:
  // At least one byte; the helper's end is the end of the program.
  std::size_t read_some(void* into, std::size_t size);
  [[nodiscard]] Bytes read_payload();
  void send(std::uint64_t id, std::string_view kind, ByteView body);
  ChildProcess child_;
  FrameReader reader_;
  std::uint64_t next_id_ = 1;
};

}  // namespace loom::bench
