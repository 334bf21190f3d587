#pragma once

#include <loom/facts.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/caretaker_message.h"
#include "host/held_names.h"
#include "host/syscalls.h"

namespace loom::host {

class MadeNames;

// The helper's line to its caretaker: a small process that makes on the host the names which a run
// needs there, and that outlives a killed helper: then it ends the run's jail and removes them.
class Caretaker : public std::enable_shared_from_this<Caretaker> {
 public:
  // Forks it. The caller has one thread. Fails with kSystem.
  [[nodiscard]] static Result<std::shared_ptr<Caretaker>> start(
      const Syscalls& syscalls = real_syscalls());
  // Hangs up. With every run released, it is gone then, unless it still tries to remove what
  // somebody else has locked: that takes it a second at most, and nobody waits for it.
  ~Caretaker();
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;
  Caretaker(Caretaker&&) = delete;
  Caretaker& operator=(Caretaker&&) = delete;

  // All of them or none; waits for it. Errors as HeldNames::take's, and kSystem when the caretaker
  // does not answer.
  [[nodiscard]] Result<MadeNames> make(const std::vector<WantedName>& names);

  [[nodiscard]] bool is_alive() const noexcept;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  friend class MadeNames;
  struct Answer;
  Caretaker(pid_t pid, UniqueFd pidfd, UniqueFd socket)
      : pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)) {}
  [[nodiscard]] Result<void> ask_for(std::uint64_t run, const std::vector<WantedName>& names) const;
  // Outside of Linux: begins a run, or adds a directory to it.
  [[nodiscard]] Result<void> ask(std::uint64_t run, const std::string* directory) const;
  [[nodiscard]] Result<std::vector<FileIdentity>> await_identities(std::uint64_t run) const;
  // The next part of the answer about `run`; those about others, given up earlier, are dropped.
  // Nothing when there is none and we shall not wait, or when `patience` is over.
  [[nodiscard]] Result<std::optional<Answer>> receive(std::uint64_t run, int patience_ms) const;

  pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd socket_;
  std::uint64_t runs_ = 0;
  bool tries_on_ = false;  // as its last answer said
};

// What a caretaker made for one run. Belongs to the run: when it is destroyed before the release
// was asked for and answered, it asks, and waits up to two seconds.
class MadeNames {
 public:
  MadeNames(MadeNames&&) noexcept = default;
  MadeNames& operator=(MadeNames&& other) noexcept;
  MadeNames(const MadeNames&) = delete;
  MadeNames& operator=(const MadeNames&) = delete;
  ~MadeNames();

  // Of the placeholders, in the order asked for.
  [[nodiscard]] const std::vector<FileIdentity>& identities() const noexcept { return identities_; }

  // Before that directory is made, and before the run's first process registers: the caretaker
  // removes it, with everything in it and following no link, once the run is released or the helper
  // is gone (host/private_scratch.h, which says what it takes for a private scratch). Fails with
  // kSystem when the caretaker does not take it in; then nothing may be made.
  [[nodiscard]] Result<void> guard_scratch(const AbsolutePath& directory) const;

  // For SpawnRequest: where the run's first process registers, and as what. Borrowed.
  [[nodiscard]] int registration_fd() const noexcept { return caretaker_->socket_.get(); }
  [[nodiscard]] std::uint64_t run() const noexcept { return run_; }

  // Process 1 of the run's pid namespace; `pidfd` is borrowed. A caretaker that is gone does not
  // learn it.
  void meet_process_one(int pidfd) const noexcept;
  // For a run without a pid namespace: of a process of its jail.
  void meet_view_of(pid_t pid) const noexcept;

  // The run's launcher has ended, or there was none: the caretaker sees to it that nothing of the
  // jail is left, for 1.5 s at most, and removes. What another run holds stays, and so does what
  // anybody else keeps locked for another second: the answer does not wait for that, or, where no
  // run seems to need the name, for 50 ms at most. Fails with kSystem when there is no caretaker
  // any more; then the names stay until a later run adopts them.
  [[nodiscard]] Result<void> ask_release();
  // Whether there are names, which its locks protect.
  [[nodiscard]] bool needs_caretaker() const noexcept { return !identities_.empty(); }
  [[nodiscard]] bool has_caretaker() const noexcept { return caretaker_->is_alive(); }
  // Becomes readable when the caretaker has ended (outside of Linux: when it may have, so ask
  // has_caretaker, which also makes it unreadable again). Its locks ended with it, so from then on
  // the names are any helper's to remove. Borrowed.
  [[nodiscard]] int end_fd() const noexcept { return caretaker_->pidfd_.get(); }
  // Becomes readable when there may be an answer. Borrowed.
  [[nodiscard]] int answer_fd() const noexcept { return caretaker_->socket_.get(); }
  // After ask_release, without waiting: what could not be removed and why, usually an empty list;
  // nothing while there is no answer. Fails with kSystem when there will be none.
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> take_answer();

 private:
  friend class Caretaker;
  MadeNames(std::shared_ptr<Caretaker> caretaker, std::uint64_t run)
      : caretaker_(std::move(caretaker)), run_(run) {}
  [[nodiscard]] Result<std::optional<std::vector<std::string>>> await_answer(int patience_ms);
  void lend(CaretakerVerb verb, int fd) const noexcept;
  void release_now() noexcept;

  std::shared_ptr<Caretaker> caretaker_;  // null after a move, and when nothing was made
  std::uint64_t run_;
  std::vector<FileIdentity> identities_;
  bool asked_ = false;
  bool answered_ = false;
};

inline constexpr std::chrono::milliseconds kReleaseLimit{2'000};  // from the asking to the answer

}  // namespace loom::host
