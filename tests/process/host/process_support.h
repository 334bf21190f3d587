#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <loom/bytes.h>
#include <loom/unique_fd.h>
#include <poll.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/exit_status.h"
#include "host/spawn.h"

namespace loom::host {

// A directory of this test's own, with links resolved; removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "loom-host-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  [[nodiscard]] const std::string& str() const { return path_; }

 private:
  std::string path_;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

inline bool kernel_is_at_least(long wanted_major, long wanted_minor) {
  utsname name{};
  ::uname(&name);
  char* rest = nullptr;
  const long major = std::strtol(name.release, &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

inline Pipe make_pipe(int flags = O_CLOEXEC) {
  int ends[2];
  if (::pipe2(ends, flags) != 0) std::abort();
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

inline std::string read_text(int fd) {
  std::string text;
  std::array<char, 65'536> part;
  for (;;) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

inline bool becomes_readable(int fd, int timeout_ms = 10'000) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, std::max(0, static_cast<int>(left.count())));
    if (ready >= 0 || errno != EINTR) return ready == 1;  // SIGCHLD interrupts it
  }
}

// What a child that was spawned takes here: a descriptor of it, or both ends of a pipe that SIGCHLD
// feeds.
#if defined(LOOM_TESTS_POSIX_HOST)
inline constexpr std::size_t kDescriptorsOfAChild = 2;
#else
inline constexpr std::size_t kDescriptorsOfAChild = 1;
#endif

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator listing("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(listing), end(listing)));
}

// Waits for a child of ours to end; -1 and the like never: the test fails instead. Where the
// descriptor of a child also wakes for others' ends, it waits on.
inline ExitStatus wait_for(int pidfd) {
  for (bool ended = false; !ended;) {
    EXPECT_TRUE(ended = becomes_readable(pidfd)) << "the child does not end";
    const auto asked = has_ended(pidfd);
    ended = !ended || !asked || *asked;
  }
  const auto status = reap_if_ended(pidfd);
  if (!status || !*status) {
    ADD_FAILURE() << "the child cannot be reaped";
    return ExitStatus{.code = -1, .signal = -1};
  }
  return **status;
}

inline SpawnRequest probe(std::vector<std::string> words) {
  SpawnRequest request;
  request.candidates = {LOOM_CHILD_PROBE};
  request.argv = std::move(words);
  request.argv.insert(request.argv.begin(), "probe");
  return request;
}

// Runs the request with standard output on a pipe, and gives what it wrote there.
inline std::string output_of(SpawnRequest request) {
  Pipe out = make_pipe();
  request.moves.push_back(FdMove{.from = out.write.get(), .to = 1});
  const auto child = spawn(request);
  out.write.reset();
  if (!child || child->failure) {
    ADD_FAILURE() << (child ? child_step_name(child->failure->step)
                            : child.error().message.c_str());
    return "";
  }
  const std::string text = read_text(out.read.get());
  EXPECT_EQ(wait_for(child->pidfd.get()).code, 0);
  return text;
}

}  // namespace loom::host
