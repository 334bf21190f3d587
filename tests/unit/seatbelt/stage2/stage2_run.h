#pragma once

#include <loom/report.h>
#include <loom/stage2_control.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/seatbelt/stage2/prepare_document.h"

namespace loom::seatbelt {

// How a program ended and what it wrote.
struct Ended {
  int code = -1;  // exit code; -1 when a signal ended it
  int signal = 0;
  std::string out{};
  std::string err{};
};

using InChild = std::function<void()>;  // called between fork and exec; no other thread runs

// The host's side of one stage 2: the real program, started by its path with its document, its
// report pipe and its control channel.
class Stage2Run {
 public:
  explicit Stage2Run(const PrepareDocument& document, const InChild& in_child = {});
  explicit Stage2Run(UniqueFd document, const InChild& in_child = {});
  ~Stage2Run();
  Stage2Run(const Stage2Run&) = delete;
  Stage2Run& operator=(const Stage2Run&) = delete;
  Stage2Run(Stage2Run&&) = delete;
  Stage2Run& operator=(Stage2Run&&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Everything on the report pipe, until its end.
  [[nodiscard]] Bytes read_report();
  // The next message but kHere; nullopt at end of file, or after ten seconds.
  [[nodiscard]] std::optional<ControlMessage> receive();
  // Waits for the report and kReady; nullopt if either does not come.
  [[nodiscard]] std::optional<InnerReport> await_ready();
  void commit(const CommitDocument& document);
  // These bytes, as they are; the descriptors ride on the first of them.
  void send_bytes(ByteView bytes, const std::vector<int>& fds = {});
  void hang_up() { control_.reset(); }
  // Hangs up and waits for the end.
  [[nodiscard]] Ended wait();

 private:
  void launch(UniqueFd document, const InChild& in_child);
  [[nodiscard]] bool receive_exactly(Bytes& bytes);

  pid_t pid_ = -1;
  UniqueFd report_;
  UniqueFd control_;
  UniqueFd out_;
  UniqueFd err_;
};

// A message with its length in front.
[[nodiscard]] Bytes frame(const ControlMessage& message);
[[nodiscard]] Bytes commit_frame();

// The three ways in which bytes travel that are read once.
[[nodiscard]] UniqueFd make_pipe(ByteView bytes);
[[nodiscard]] UniqueFd make_socket(ByteView bytes);
[[nodiscard]] UniqueFd make_file(ByteView bytes);

// Prepares, commits, waits. A stage 2 that does not get ready ends with what it said.
[[nodiscard]] Ended run_command_with(const PrepareDocument& document, const CommitDocument& command,
                                     const InChild& in_child = {});

// `bash -c script` with a PATH.
[[nodiscard]] CommitDocument shell(const std::string& script);

// A fresh directory below /tmp, removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& str() const noexcept { return path_; }

  void write(const std::string& name, const std::string& text, unsigned mode = 0644) const;

 private:
  std::string path_;
};

[[nodiscard]] FileIdentity identity_of(const std::string& path);

}  // namespace loom::seatbelt
