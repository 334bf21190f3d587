#include "conversation.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "../child_process.h"

namespace loom::conformance {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kReadBytes = 1U << 18U;
// Far above what a helper may have under way when nobody reads.
constexpr std::size_t kMaxInboxBytes = 1U << 28U;
constexpr std::size_t kLengthBytes = 4;

tl::unexpected<Error> refuse(std::string why) { return fail(ErrorCode::kBackend, std::move(why)); }

tl::unexpected<Error> system_error(const char* what) {
  const int error = errno;
  return fail(ErrorCode::kSystem, std::string(what) + ": " + ::strerror(error), error);
}

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<Millis>(deadline - Clock::now());
  return static_cast<int>(std::max<Millis::rep>(left.count(), 0));
}

struct Pipe {
  UniqueFd read{};
  UniqueFd write{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe");
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

Result<UniqueFd> file_with(const std::string& bytes) {
  LOOM_TRY(UniqueFd file, make_memory_file("policy"));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0) return system_error("write the policy");
    done += static_cast<std::size_t>(wrote);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return system_error("seek in the policy");
  return file;
}

void never_block(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<std::string> environment_of(const HelperStart& how) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> variables = {std::string("PATH=") +
                                        (path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin")};
  variables.insert(variables.end(), how.environment.begin(), how.environment.end());
  return variables;
}

std::vector<std::string> command_line(const Subject& subject, const HelperStart& how) {
  std::vector<std::string> words = {subject.helper};
  words.insert(words.end(), subject.helper_arguments.begin(), subject.helper_arguments.end());
  words.insert(words.end(), how.arguments.begin(), how.arguments.end());
  return words;
}

std::size_t announced(std::string_view prefix) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8U | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

}  // namespace

Result<std::unique_ptr<Conversation>> Conversation::start(const Subject& subject,
                                                          const HelperStart& how) {
  std::unique_ptr<Conversation> talk(new Conversation());
  LOOM_TRY(Pipe in, make_pipe());
  LOOM_TRY(Pipe out, make_pipe());
  LOOM_TRY(talk->log_, make_memory_file("log"));
  UniqueFd policy;
  if (how.policy) {
    LOOM_TRY(policy, file_with(*how.policy));
  }
  ProgramSpec spec{.argv = command_line(subject, how), .environment = environment_of(how)};
  spec.in = in.read.get();
  spec.out = out.write.get();
  spec.err = talk->log_.get();
  spec.third = policy.get();
  talk->began_ = Clock::now();
  LOOM_TRY(talk->pid_, start_program(spec));
  talk->to_helper_ = std::move(in.write);
  talk->from_helper_ = std::move(out.read);
  never_block(talk->to_helper_.get());
  never_block(talk->from_helper_.get());
  return talk;
}

Result<std::unique_ptr<Conversation>> Conversation::open(const Subject& subject, const Json& policy,
                                                         const std::vector<std::string>& features) {
  LOOM_TRY(auto talk, start(subject, {.policy = pack(policy)}));
  LOOM_TRY_VOID(talk->shake_hands(features));
  return talk;
}

Conversation::~Conversation() { kill_helper(); }

void Conversation::kill_helper() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool Conversation::lists(std::string_view feature) const {
  return std::find(features_.begin(), features_.end(), feature) != features_.end();
}

std::string Conversation::log() const { return read_whole(log_.get()); }

std::string Conversation::with_log(std::string text) const {
  const std::string said = log();
  if (!said.empty()) text += "; its log: " + printable(said.substr(0, 300));
  return text;
}

// --- bytes ---

Result<bool> Conversation::pull() {
  inbox_.erase(0, std::exchange(read_to_, 0));
  std::string chunk(kReadBytes, '\0');
  const ssize_t got = ::read(from_helper_.get(), chunk.data(), chunk.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got < 0) return system_error("read from the helper");
  inbox_.append(chunk, 0, static_cast<std::size_t>(got));
  if (inbox_.size() > kMaxInboxBytes) return refuse("the helper does not stop sending");
  return got > 0;
}

Result<std::size_t> Conversation::push(std::string_view bytes, Millis patience, bool reading) {
  const auto deadline = Clock::now() + patience;
  std::size_t done = 0;
  while (done < bytes.size() && Clock::now() < deadline) {
    pollfd both[] = {{.fd = to_helper_.get(), .events = POLLOUT, .revents = 0},
                     {.fd = reading ? from_helper_.get() : -1, .events = POLLIN, .revents = 0}};
    if (::poll(both, 2, left_ms(deadline)) < 0 && errno != EINTR) return system_error("poll");
    if (both[1].revents != 0) {
      LOOM_TRY(reading, pull());
    }
    if (both[0].revents == 0) continue;
    const ssize_t wrote = ::write(to_helper_.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EPIPE) return done;
    if (wrote < 0 && errno != EAGAIN && errno != EINTR) return system_error("write to the helper");
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  return done;
}

Result<void> Conversation::send_bytes(std::string_view bytes) {
  LOOM_TRY(const std::size_t taken, push(bytes));
  if (taken == bytes.size()) return {};
  return refuse(with_log("the helper took " + std::to_string(taken) + " of " +
                         std::to_string(bytes.size()) + " bytes"));
}

bool Conversation::silent_for(Millis time) {
  const auto deadline = Clock::now() + time;
  while (unread().empty()) {
    pollfd one{.fd = from_helper_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, left_ms(deadline)) <= 0) return true;
    const auto more = pull();
    if (!more || !*more) break;
  }
  return unread().empty();
}

// --- frames ---

Result<std::uint64_t> Conversation::send(std::string_view kind, const Json& body) {
  const std::uint64_t id = next_id();
  LOOM_TRY_VOID(send(id, kind, body));
  return id;
}

Result<void> Conversation::send(std::uint64_t id, std::string_view kind, const Json& body) {
  return send_bytes(envelope(id, kind, body));
}

void Conversation::note(const Frame& frame) {
  if (frame.spelling == Spelling::kWideCounts) ++wide_counts_;
  if (frame.spelling == Spelling::kOther) {
    oddities_.push_back("not the smallest encoding: " + frame.text());
  }
  if (!frame.in_order) {
    oddities_.push_back("the envelope's keys are not in the order v, id, kind, body: " +
                        frame.text());
  }
}

Result<std::optional<Frame>> Conversation::buffered_frame() {
  const std::string_view waiting = unread();
  if (waiting.size() < kLengthBytes) return std::optional<Frame>();
  const std::size_t length = announced(waiting);
  if (length == 0 || length > kMaxPayloadBytes) {
    return refuse(with_log("no length of a frame on stdout: " + escaped(waiting.substr(0, 60))));
  }
  if (waiting.size() - kLengthBytes < length) return std::optional<Frame>();
  std::string payload(waiting.substr(kLengthBytes, length));
  read_to_ += kLengthBytes + length;
  LOOM_TRY(Frame frame, read_frame(std::move(payload), terms_));
  note(frame);
  return std::optional<Frame>(std::move(frame));
}

Result<std::optional<Frame>> Conversation::receive_or_end(Millis patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    LOOM_TRY(auto frame, buffered_frame());
    if (frame) return frame;
    pollfd one{.fd = from_helper_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, left_ms(deadline));
    if (ready < 0 && errno != EINTR) return system_error("poll");
    if (ready == 0) {
      return refuse(with_log("nothing comes for " + std::to_string(patience.count()) + " ms"));
    }
    if (ready < 0) continue;
    LOOM_TRY(const bool more, pull());
    if (more) continue;
    if (unread().empty()) return std::optional<Frame>();
    return refuse("stdout ends inside a frame: " + escaped(unread().substr(0, 60)));
  }
}

Result<Frame> Conversation::receive(Millis patience) {
  LOOM_TRY(auto frame, receive_or_end(patience));
  if (!frame) return refuse(with_log("the helper closed stdout"));
  return std::move(*frame);
}

Result<Frame> Conversation::expect(std::string_view kind, std::uint64_t id, Millis patience) {
  const std::string due = std::string(kind) + " id=" + std::to_string(id) + " was due";
  auto frame = receive(patience);
  if (!frame) {
    return fail(frame.error().code, due + ": " + frame.error().message, frame.error().sys_errno);
  }
  if (frame->kind == kind && frame->id == id) return frame;
  return refuse(due + ", and came: " + frame->text());
}

Result<std::string> Conversation::expect_error(std::string_view code, std::uint64_t id,
                                               Millis patience) {
  LOOM_TRY(const Frame frame, expect("error", id, patience));
  if (frame.body["code"] == code) return frame.body["msg"].get<std::string>();
  return refuse("the code " + std::string(code) + " was due, and came: " + frame.text());
}

Result<void> Conversation::heartbeat(Millis patience) {
  LOOM_TRY(const std::uint64_t id, send("heartbeat", Json::object()));
  LOOM_TRY(const Frame echo, expect("heartbeat", id, patience));
  return {};
}

Result<void> Conversation::shake_hands(const std::vector<std::string>& features) {
  LOOM_TRY(const Frame hello, receive(kHelloPatience));
  if (hello.kind != "hello") return refuse("hello was due, and came: " + hello.text());
  if (hello.body["proto"] != kProto) {
    return refuse("the helper speaks proto " + hello.body["proto"].dump() + ", this suite " +
                  std::to_string(kProto));
  }
  features_ = texts_of(hello.body["features"]);
  const auto both = [&](std::string_view feature) {
    return lists(feature) && std::find(features.begin(), features.end(), feature) != features.end();
  };
  terms_ = {.outcome = both(kOutcome), .denial = both(kDenial)};
  LOOM_TRY(const std::uint64_t id,
           send("hello", {{"proto", kProto}, {"peer", "broker"}, {"features", features}}));
  static_cast<void>(id);
  return {};
}

// --- executions ---

Result<Run> Conversation::begin(const Json& start) {
  Run run;
  began_ = Clock::now();
  LOOM_TRY(run.id, send("exec_start", start));
  return run;
}

Result<void> Conversation::take_next(Run& run, Millis patience, std::vector<Frame>* others) {
  LOOM_TRY(Frame frame, receive(patience));
  if (frame.id == run.id) return run.take(frame);
  if (others == nullptr) {
    return refuse("during execution " + std::to_string(run.id) + ": " + frame.text());
  }
  others->push_back(std::move(frame));
  return {};
}

Result<void> Conversation::settle(Run& run, Millis patience, std::vector<Frame>* others) {
  const auto deadline = Clock::now() + patience;
  while (!run.settled()) {
    LOOM_TRY_VOID(take_next(run, Millis(left_ms(deadline)), others));
  }
  run.took = std::chrono::duration_cast<Millis>(Clock::now() - began_);
  return {};
}

Result<void> Conversation::settle_slowly(Run& run, std::vector<Frame>* others) {
  while (!run.settled()) LOOM_TRY_VOID(take_next(run, kPatience, others));
  return {};
}

Result<void> Conversation::until(Run& run, std::string_view marker) {
  const auto deadline = Clock::now() + kPatience;
  while (run.out.find(marker) == std::string::npos) {
    if (run.settled()) {
      return refuse("ended before it said \"" + escaped(marker) + "\": " + run.text());
    }
    LOOM_TRY_VOID(take_next(run, Millis(left_ms(deadline)), nullptr));
  }
  return {};
}

Result<Run> Conversation::execute(const Json& start) {
  LOOM_TRY(Run run, begin(start));
  LOOM_TRY_VOID(settle(run));
  return run;
}

Result<std::uint64_t> Conversation::feed(std::string_view data, bool eof) {
  return send("exec_stdin", {{"data", binary(data)}, {"eof", eof}});
}

Result<void> Conversation::cancel(const Run& run) { return send(run.id, "cancel", Json::object()); }

// --- the end ---

Result<void> Conversation::expect_end(int status, Millis patience) {
  LOOM_TRY(const auto frame, receive_or_end(patience));
  if (frame) return refuse("the end was due, and came: " + frame->text());
  const Ending ending = await_end(std::exchange(pid_, -1), patience);
  const bool exited = !ending.timed_out && WIFEXITED(ending.status);
  const int found = exited ? WEXITSTATUS(ending.status) : 0;
  if (exited && (status == kAnyFailure ? found != 0 : found == status)) return {};
  return refuse(with_log(
      "the helper was to end with " +
      (status == kAnyFailure ? std::string("a status that is not 0") : std::to_string(status)) +
      ", and: " + ending.text()));
}

Result<void> Conversation::shut_down() {
  LOOM_TRY(const std::uint64_t id, send("shutdown", Json::object()));
  static_cast<void>(id);
  return expect_end(0);
}

}  // namespace loom::conformance
