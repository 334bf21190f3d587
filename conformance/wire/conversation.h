#pragma once

#include <loom/unique_fd.h>
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>

#include "../check.h"
#include "run.h"

namespace loom::conformance {

using Millis = std::chrono::milliseconds;

// Until a silence is a failure, where the contract names no time.
inline constexpr Millis kPatience{20'000};
inline constexpr Millis kAnswerPatience{10'000};  // the same for one answer
// What a broker gives a helper for its hello, and an execution for its end after a cancel.
inline constexpr Millis kHelloPatience{5'000};
inline constexpr Millis kCancelPatience{3'000};

struct HelperStart {
  std::optional<std::string> policy{};     // what descriptor 3 holds; nullopt: it is not open
  std::vector<std::string> arguments{};    // besides the subject's own
  std::vector<std::string> environment{};  // besides PATH
};

// A helper and its broker, who is us. Everything read is judged as a broker judges it; everything
// waited for has a deadline. Errors: kSystem is ours, kBackend the helper's.
class Conversation {
 public:
  // Starts the helper and says nothing.
  [[nodiscard]] static Result<std::unique_ptr<Conversation>> start(const Subject& subject,
                                                                   const HelperStart& how);
  // Starts it and shakes hands.
  [[nodiscard]] static Result<std::unique_ptr<Conversation>> open(
      const Subject& subject, const Json& policy, const std::vector<std::string>& features = {});
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  // Kills the helper if it lives.
  ~Conversation();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const std::vector<std::string>& features() const noexcept { return features_; }
  [[nodiscard]] bool lists(std::string_view feature) const;
  // What the helper wrote to stderr.
  [[nodiscard]] std::string log() const;
  // Frames read so far that were not in the smallest encoding, or with their keys in another order.
  [[nodiscard]] const std::vector<std::string>& oddities() const noexcept { return oddities_; }
  [[nodiscard]] int wide_counts() const noexcept { return wide_counts_; }

  // --- bytes ---
  // Writes all of it, reading along so that nobody waits for us. How much was taken.
  [[nodiscard]] Result<std::size_t> push(std::string_view bytes, Millis patience = kPatience,
                                         bool reading = true);
  [[nodiscard]] Result<void> send_bytes(std::string_view bytes);
  void close_input() { to_helper_.reset(); }
  void close_output() { from_helper_.reset(); }
  // Whether nothing at all arrives for so long.
  [[nodiscard]] bool silent_for(Millis time);

  // --- frames ---
  [[nodiscard]] std::uint64_t next_id() noexcept { return ++last_id_; }
  // Under a fresh id, which is returned.
  [[nodiscard]] Result<std::uint64_t> send(std::string_view kind, const Json& body);
  [[nodiscard]] Result<void> send(std::uint64_t id, std::string_view kind, const Json& body);
  // The next frame; nullopt at the end of the stream.
  [[nodiscard]] Result<std::optional<Frame>> receive_or_end(Millis patience = kPatience);
  [[nodiscard]] Result<Frame> receive(Millis patience = kPatience);
  // The next frame, which must be of this kind and under this id.
  [[nodiscard]] Result<Frame> expect(std::string_view kind, std::uint64_t id,
                                     Millis patience = kAnswerPatience);
  // An error under this id; its text.
  [[nodiscard]] Result<std::string> expect_error(std::string_view code, std::uint64_t id,
                                                 Millis patience = kAnswerPatience);
  // The channel lives, and nothing was waiting in it.
  [[nodiscard]] Result<void> heartbeat(Millis patience = kAnswerPatience);

  // --- executions ---
  [[nodiscard]] Result<Run> begin(const Json& start);  // sends exec_start
  // Reads until it has ended. Frames of other ids go to `others`, or are an error.
  [[nodiscard]] Result<void> settle(Run& run, Millis patience = kPatience,
                                    std::vector<Frame>* others = nullptr);
  // The same, however long it takes, as long as something comes.
  [[nodiscard]] Result<void> settle_slowly(Run& run, std::vector<Frame>* others = nullptr);
  // Reads until its stdout holds `marker`.
  [[nodiscard]] Result<void> until(Run& run, std::string_view marker);
  // Begins and settles.
  [[nodiscard]] Result<Run> execute(const Json& start);
  [[nodiscard]] Result<std::uint64_t> feed(std::string_view data, bool eof = false);
  [[nodiscard]] Result<void> cancel(const Run& run);

  // --- the end ---
  // No frame more, the end of the stream, and this exit status. Any but 0: kAnyFailure.
  static constexpr int kAnyFailure = -1;
  [[nodiscard]] Result<void> expect_end(int status, Millis patience = kPatience);
  // Says shutdown and expects the orderly end.
  [[nodiscard]] Result<void> shut_down();
  // SIGKILL, and reaped.
  void kill_helper();

 private:
  Conversation() = default;
  [[nodiscard]] Result<void> shake_hands(const std::vector<std::string>& features);
  [[nodiscard]] Result<std::optional<Frame>> buffered_frame();
  [[nodiscard]] Result<bool> pull();  // false at the end of the stream
  [[nodiscard]] std::string_view unread() const noexcept {
    return std::string_view(inbox_).substr(read_to_);
  }
  void note(const Frame& frame);
  // One frame of the run, or one for `others`.
  [[nodiscard]] Result<void> take_next(Run& run, Millis patience, std::vector<Frame>* others);
  [[nodiscard]] std::string with_log(std::string text) const;

  pid_t pid_ = -1;  // -1: not started, or reaped
  UniqueFd to_helper_{};
  UniqueFd from_helper_{};
  UniqueFd log_{};
  std::string inbox_{};
  std::size_t read_to_ = 0;
  std::uint64_t last_id_ = 0;
  std::vector<std::string> features_{};
  Terms terms_{};
  std::vector<std::string> oddities_{};
  int wide_counts_ = 0;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace loom::conformance
