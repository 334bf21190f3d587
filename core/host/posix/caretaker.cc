#include "host/caretaker.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "host/caretaker_process.h"
#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/posix/caretaker_record.h"
#include "host/posix/stream_socket.h"

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;

// A release that is under way may take most of this.
constexpr int kAnswerPatienceMs = 10'000;
constexpr int kGoodbyePatienceMs = 500;
constexpr const char* kChannel = "caretaker";

tl::unexpected<Error> gone() {
  return fail(ErrorCode::kSystem, "the caretaker of runs is gone", EPIPE);
}

tl::unexpected<Error> silent() {
  return fail(ErrorCode::kSystem, "the caretaker of runs does not answer", ETIMEDOUT);
}

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max(0, static_cast<int>(left.count()));
}

bool becomes_readable(int fd, Clock::time_point deadline) {
  for (;;) {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, left_until(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// What the terminal sends to everybody must not reach the caretaker before it is prepared.
pid_t fork_undisturbed() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

CaretakerRecord record_of(CaretakerWord word, std::uint64_t run) {
  CaretakerRecord record;
  std::memset(&record, 0, sizeof record);
  record.word = word;
  record.run = run;
  return record;
}

Result<void> send_record(int socket, const CaretakerRecord& record) {
  return send_whole(kChannel, socket, std::as_bytes(std::span(&record, 1)));
}

}  // namespace

struct Caretaker::Answer {
  CaretakerRecord record;
};

Result<std::shared_ptr<Caretaker>> Caretaker::start(const Syscalls& syscalls) {
  LOOM_TRY(StreamPair pair, make_stream_pair(kChannel));
  LOOM_TRY_VOID(set_nonblocking(kChannel, pair.other.get()));
  const pid_t pid = fork_undisturbed();
  if (pid == 0) run_caretaker(std::move(pair.one), syscalls);
  if (pid < 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "caretaker: fork: " + errno_text(error), error);
  }
  auto pidfd = open_pidfd(pid);
  if (!pidfd) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return tl::unexpected(std::move(pidfd).error());
  }
  return std::shared_ptr<Caretaker>(new Caretaker(pid, UniqueFd(*pidfd), std::move(pair.other)));
}

Caretaker::~Caretaker() {
  socket_.reset();
  const auto deadline = Clock::now() + std::chrono::milliseconds(kGoodbyePatienceMs);
  while (is_alive() && becomes_readable(pidfd_.get(), deadline)) {
  }
  static_cast<void>(reap_if_ended(pidfd_.get()).has_value());
}

bool Caretaker::is_alive() const noexcept {
  const auto ended = has_ended(pidfd_.get());
  return ended && !*ended;
}

Result<std::optional<Caretaker::Answer>> Caretaker::receive(std::uint64_t run,
                                                            int patience_ms) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
  for (;;) {
    if (!becomes_readable(socket_.get(), deadline)) return std::optional<Answer>();
    Answer answer{};
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&answer.record, 1));
    const ssize_t got = peek(socket_.get(), bytes.data(), bytes.size());
    if (got == 0) return gone();
    if (got < 0 && errno != EAGAIN) return gone();
    if (got != static_cast<ssize_t>(bytes.size())) {
      // The rest of it is on its way, or its writer was killed over it.
      if (!is_alive() || Clock::now() >= deadline) return gone();
      continue;
    }
    take(socket_.get(), bytes.data(), bytes.size());
    if (answer.record.run == run) return std::optional(answer);
  }
}

// One word about `run`, and the answer.
Result<void> Caretaker::ask(std::uint64_t run, const std::string* directory) const {
  CaretakerRecord record =
      record_of(directory != nullptr ? CaretakerWord::kScratch : CaretakerWord::kBegin, run);
  if (directory != nullptr) {
    if (directory->size() > kMaxScratchPath) {
      return fail(ErrorCode::kInvalidRequest, "caretaker: the path of a scratch is too long");
    }
    directory->copy(record.text, directory->size());
  }
  LOOM_TRY_VOID(send_record(socket_.get(), record));
  LOOM_TRY(const std::optional<Answer> answer, receive(run, kAnswerPatienceMs));
  if (!answer) return silent();
  if (answer->record.number == 0) return {};
  return fail(ErrorCode::kSystem, "caretaker: " + errno_text(answer->record.number),
              answer->record.number);
}

Result<MadeNames> Caretaker::make(const std::vector<WantedName>& names) {
  if (!names.empty()) {
    return fail(ErrorCode::kUnsupported, "nothing is put in the place of an absent path here");
  }
  MadeNames made(shared_from_this(), ++runs_);
  LOOM_TRY_VOID(ask(made.run_, nullptr));
  return made;
}

MadeNames& MadeNames::operator=(MadeNames&& other) noexcept {
  if (this != &other) {
    release_now();
    caretaker_ = std::move(other.caretaker_);
    run_ = other.run_;
    identities_ = std::move(other.identities_);
    asked_ = other.asked_;
    answered_ = other.answered_;
  }
  return *this;
}

MadeNames::~MadeNames() { release_now(); }

Result<void> MadeNames::guard_scratch(const AbsolutePath& directory) const {
  return caretaker_->ask(run_, &directory.str());
}

// A process of a jail is known here by its group alone.
void MadeNames::meet_process_one(int) const noexcept {}

void MadeNames::meet_view_of(pid_t) const noexcept {}

Result<void> MadeNames::ask_release() {
  if (asked_) return {};
  asked_ = true;
  if (!send_record(caretaker_->socket_.get(), record_of(CaretakerWord::kRelease, run_))) {
    return gone();
  }
  return {};
}

Result<std::optional<std::vector<std::string>>> MadeNames::take_answer() { return await_answer(0); }

Result<std::optional<std::vector<std::string>>> MadeNames::await_answer(int patience_ms) {
  LOOM_TRY(const auto answer, caretaker_->receive(run_, patience_ms));
  if (!answer) return std::optional<std::vector<std::string>>();
  answered_ = true;
  std::vector<std::string> problems;
  const CaretakerRecord& record = answer->record;
  const std::size_t length = ::strnlen(record.text, sizeof record.text);
  if (length > 0) problems.emplace_back(record.text, length);
  return std::optional(std::move(problems));
}

void MadeNames::release_now() noexcept {
  if (!caretaker_ || answered_) return;
  const bool asked_before = asked_;
  // A second time nobody waits: whoever asked first has waited long enough.
  if (ask_release() && !asked_before) {
    static_cast<void>(await_answer(static_cast<int>(kReleaseLimit.count())).has_value());
  }
}

}  // namespace loom::host
