#include "child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace loom::conformance {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{2};

tl::unexpected<Error> system_error(const char* what) {
  const int error = errno;
  return fail(ErrorCode::kSystem, std::string(what) + ": " + ::strerror(error), error);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything that this process has open and did not mean to hand on is closed by the exec.
void keep_only(const std::vector<int>& inherited) {
  for (int fd = 3; fd < 256; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  for (const int fd : inherited) ::fcntl(fd, F_SETFD, 0);
}

int become(const ProgramSpec& spec) {
  ProgramSpec words = spec;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(spec.in >= 0 ? spec.in : nothing, 0);
  ::dup2(spec.out >= 0 ? spec.out : nothing, 1);
  ::dup2(spec.err >= 0 ? spec.err : nothing, 2);
  keep_only(spec.inherited);
  if (spec.third >= 0) {
    // Whatever had that number is a standard stream by now.
    if (spec.third != 3) ::dup2(spec.third, 3);
    ::fcntl(3, F_SETFD, 0);
  }
  if (::chdir(spec.directory.c_str()) != 0) return 124;
  for (int number = 1; number < 32; ++number) ::signal(number, SIG_DFL);
  ::execve(words.argv.front().c_str(), pointers_to(words.argv).data(),
           pointers_to(words.environment).data());
  return 124;
}

}  // namespace

std::string Ending::text() const {
  if (timed_out) return "did not end in time";
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

Result<pid_t> fork_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child < 0) return system_error("fork");
  if (child == 0) {
    ::setpgid(0, 0);
    ::_exit(act());
  }
  ::setpgid(child, child);
  return child;
}

Result<pid_t> start_program(const ProgramSpec& spec) {
  return fork_child([&spec] { return become(spec); });
}

Ending await_end(pid_t child, std::chrono::milliseconds patience) {
  Ending ending;
  const auto deadline = Clock::now() + patience;
  while (::waitpid(child, &ending.status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) {
      ending.timed_out = true;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);
      ::waitpid(child, &ending.status, 0);
      break;
    }
    std::this_thread::sleep_for(kPause);
  }
  return ending;
}

Result<Bytes> bytes_from_child(const std::function<Result<Bytes>()>& act,
                               std::chrono::seconds patience) {
  LOOM_TRY(const UniqueFd file, make_memory_file("answer"));
  const int out = file.get();
  LOOM_TRY(const pid_t child, fork_child([&act, out] {
             const Result<Bytes> answer = act();
             const ByteView bytes = answer ? ByteView(*answer) : as_bytes(answer.error().message);
             const auto size = static_cast<ssize_t>(bytes.size());
             if (::write(out, bytes.data(), bytes.size()) != size) return 3;
             return answer ? 0 : 2;
           }));
  const Ending ending = await_end(child, patience);
  const std::string text = read_whole(out);
  if (ending.timed_out || !WIFEXITED(ending.status)) {
    return fail(ErrorCode::kBackend, "the process that asked the backend: " + ending.text());
  }
  if (WEXITSTATUS(ending.status) != 0) return fail(ErrorCode::kSystem, text);
  const ByteView bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<std::pair<pid_t, std::string>> own_children() {
  std::vector<std::pair<pid_t, std::string>> found;
  const std::string self = std::to_string(::getpid());
  std::ifstream list("/proc/" + self + "/task/" + self + "/children");
  for (pid_t pid = 0; list >> pid;) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
    found.emplace_back(pid, name);
  }
  return found;
}

void end_children() noexcept {
  for (int round = 0; round < 50; ++round) {
    const auto children = own_children();
    if (children.empty()) return;
    for (const auto& [pid, name] : children) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
}

Result<UniqueFd> make_memory_file(const char* name) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) return system_error("memory file");
  return file;
}

std::string read_whole(int fd) {
  std::string text;
  char buffer[65'536];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof buffer, at);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace loom::conformance
