#pragma once

#include <loom/report.h>
#include <loom/stage2_control.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/bwrap/stage2/prepare_document.h"

namespace loom::bwrap {

// How a program ended and what it wrote.
struct Ended {
  int code = -1;  // exit code; -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

struct Start {
  std::vector<std::string>
      launcher;                    // bubblewrap's options, handed over with --args; empty: no jail
  std::function<void()> in_child;  // called between fork and exec; no other thread runs
};

// The host's side of one stage 2: the real program, started as /proc/self/fd/N with its document,
// its report pipe and its control channel.
class Stage2Run {
 public:
  explicit Stage2Run(const PrepareDocument& document, const Start& start = {});
  explicit Stage2Run(const Bytes& document, const Start& start = {});
  ~Stage2Run();
  Stage2Run(const Stage2Run&) = delete;
  Stage2Run& operator=(const Stage2Run&) = delete;
  Stage2Run(Stage2Run&&) = delete;
  Stage2Run& operator=(Stage2Run&&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // Everything on the report pipe, until its end.
  [[nodiscard]] Bytes read_report();
  // The next packet; nullopt at end of file, or after ten seconds.
  [[nodiscard]] std::optional<ControlMessage> receive();
  // Waits for the report and kReady; nullopt if either does not come.
  [[nodiscard]] std::optional<InnerReport> await_ready();
  // `exec_rules` goes along, if it is a descriptor.
  void commit(const CommitDocument& document, int exec_rules = -1);
  // A commit message that carries these descriptors.
  void send_commit(const std::vector<int>& fds);
  void hang_up() { control_.reset(); }
  // Hangs up and waits for the end.
  [[nodiscard]] Ended wait();

 private:
  void launch(const Bytes& document, const Start& start);

  pid_t pid_ = -1;
  UniqueFd report_;
  UniqueFd control_;
  UniqueFd out_;
  UniqueFd err_;
};

// A memory file with these bytes; sealed unless told otherwise.
[[nodiscard]] UniqueFd make_memory_file(ByteView bytes, bool sealed = true);

// A document that asks for nothing and reports Landlock as skipped.
[[nodiscard]] PrepareDocument plain_document();

// Prepares, commits, waits. A stage 2 that does not get ready ends with what it said.
[[nodiscard]] Ended run_command_with(const PrepareDocument& document, const CommitDocument& command,
                                     const Start& start = {});

// `sh -c script` with a PATH.
[[nodiscard]] CommitDocument shell(const std::string& script);

// For Start::in_child: from here on the kernel answers ENOSYS to openat2 and close_range, as
// before 5.6.
void forget_new_calls();

// For Start::in_child: from here on the kernel says yes to these calls and does nothing. A call
// that is prctl counts only when it sets no_new_privs. Needs uid 0: as anybody else it would take
// no_new_privs itself.
[[nodiscard]] std::function<void()> withhold(std::vector<long> calls);

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

}  // namespace loom::bwrap
