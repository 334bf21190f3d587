#include "host/caretaker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "host/caretaker_codec.h"
#include "host/caretaker_message.h"
#include "host/caretaker_process.h"
#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/packet_socket.h"

namespace loom::host {

namespace {

using Clock = std::chrono::steady_clock;

// A release that is under way may take most of this.
constexpr int kMakePatienceMs = 10'000;
constexpr int kGoodbyePatienceMs = 500;
constexpr const char* kChannel = "caretaker";

tl::unexpected<Error> gone() {
  return fail(ErrorCode::kSystem, "the caretaker of absent protected paths is gone", EPIPE);
}

tl::unexpected<Error> silent() {
  return fail(ErrorCode::kSystem, "the caretaker of absent protected paths does not answer",
              ETIMEDOUT);
}

bool becomes_ready(int fd, short events, int patience_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd one{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, std::max(0, static_cast<int>(left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// As send_packet, but a full socket is waited for.
Result<void> send_patiently(int socket, const CaretakerHead& head, ByteView rest, int patience_ms) {
  if (!becomes_ready(socket, POLLOUT, patience_ms)) {
    return silent();
  }
  return send_packet(kChannel, socket, head_bytes(head), rest);
}

// What the terminal sends to everybody must not reach the caretaker before it is prepared.
pid_t fork_undisturbed() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

struct Caretaker::Answer {
  CaretakerAnswer head;
  Bytes rest;
};

Result<std::shared_ptr<Caretaker>> Caretaker::start(const Syscalls& syscalls) {
  LOOM_TRY(PacketPair pair, make_packet_pair(kChannel));
  const pid_t pid = fork_undisturbed();
  if (pid == 0) run_caretaker(std::move(pair.informed), syscalls);
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
  // One that still ends a jail is left to itself.
  static_cast<void>(becomes_ready(pidfd_.get(), POLLIN, tries_on_ ? 0 : kGoodbyePatienceMs));
  ::waitpid(pid_, nullptr, WNOHANG);
}

bool Caretaker::is_alive() const noexcept { return !becomes_ready(pidfd_.get(), POLLIN, 0); }

Result<std::optional<Caretaker::Answer>> Caretaker::receive(std::uint64_t run,
                                                            int patience_ms) const {
  const auto deadline = Clock::now() + std::chrono::milliseconds(patience_ms);
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const int wait_ms = std::max(0, static_cast<int>(left.count()));
    if (!becomes_ready(socket_.get(), POLLIN, wait_ms)) return std::optional<Answer>();
    LOOM_TRY(auto received,
             receive_packet(kChannel, socket_.get(), kMaxCaretakerMessage, MSG_DONTWAIT));
    if (!received) continue;
    if (received->closed) return gone();
    ByteView rest = received->bytes;
    const auto head = take_head<CaretakerAnswer>(rest);
    if (!head || head->run != run) continue;
    if (head->failed != 0) {
      LOOM_TRY(Error error, decode_error(rest));
      return tl::unexpected(std::move(error));
    }
    return std::optional(Answer{.head = *head, .rest = Bytes(rest.begin(), rest.end())});
  }
}

Result<void> Caretaker::ask_for(std::uint64_t run, const std::vector<WantedName>& names) const {
  const std::vector<Bytes> parts = encode_names(names);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const CaretakerHead head{.verb = CaretakerVerb::kMake,
                             .more = i + 1 < parts.size() ? 1u : 0u,
                             .run = run,
                             .registered_ns = 0};
    LOOM_TRY_VOID(send_patiently(socket_.get(), head, parts[i], kMakePatienceMs));
  }
  return {};
}

Result<std::vector<FileIdentity>> Caretaker::await_identities(std::uint64_t run) const {
  std::vector<FileIdentity> identities;
  for (;;) {
    LOOM_TRY(const std::optional<Answer> answer, receive(run, kMakePatienceMs));
    if (!answer) return silent();
    LOOM_TRY_VOID(decode_identities(answer->rest, identities));
    if (answer->head.more == 0) return identities;
  }
}

Result<MadeNames> Caretaker::make(const std::vector<WantedName>& names) {
  MadeNames made(shared_from_this(), ++runs_);
  LOOM_TRY_VOID(ask_for(made.run_, names));
  LOOM_TRY(made.identities_, await_identities(made.run_));
  if (made.identities_.size() != names.size()) return silent();
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

void MadeNames::lend(CaretakerVerb verb, int fd) const noexcept {
  const CaretakerHead head{.verb = verb, .more = 0, .run = run_, .registered_ns = 0};
  static_cast<void>(
      send_packet(kChannel, caretaker_->socket_.get(), head_bytes(head), {}, fd).has_value());
}

Result<void> MadeNames::guard_scratch(const AbsolutePath& directory) const {
  const CaretakerHead head{
      .verb = CaretakerVerb::kScratch, .more = 0, .run = run_, .registered_ns = 0};
  LOOM_TRY_VOID(send_patiently(caretaker_->socket_.get(), head,
                               std::as_bytes(std::span(directory.str())), kMakePatienceMs));
  LOOM_TRY(const auto answer, caretaker_->receive(run_, kMakePatienceMs));
  if (!answer) return silent();
  return {};
}

void MadeNames::meet_process_one(int pidfd) const noexcept {
  lend(CaretakerVerb::kProcessOne, pidfd);
}

void MadeNames::meet_view_of(pid_t pid) const noexcept {
  const std::string name = "/proc/" + std::to_string(pid) + "/ns/mnt";
  const UniqueFd view(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (view) lend(CaretakerVerb::kView, view.get());
}

Result<void> MadeNames::ask_release() {
  if (asked_) return {};
  asked_ = true;
  const CaretakerHead head{
      .verb = CaretakerVerb::kRelease, .more = 0, .run = run_, .registered_ns = 0};
  if (!send_packet(kChannel, caretaker_->socket_.get(), head_bytes(head), {})) return gone();
  return {};
}

Result<std::optional<std::vector<std::string>>> MadeNames::take_answer() { return await_answer(0); }

Result<std::optional<std::vector<std::string>>> MadeNames::await_answer(int patience_ms) {
  LOOM_TRY(const auto answer, caretaker_->receive(run_, patience_ms));
  if (!answer) return std::optional<std::vector<std::string>>();
  answered_ = true;
  caretaker_->tries_on_ = answer->head.more != 0;
  LOOM_TRY(auto problems, decode_texts(answer->rest));
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
