#include "host/inherited_state.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "host/errno_text.h"

namespace loom::host {
namespace {

constexpr std::size_t kMaxFileBytes = 65'536;
constexpr const char* kFiles[] = {"/proc/self/cgroup", "/proc/self/oom_score_adj",
                                  "/proc/self/coredump_filter", "/proc/sys/kernel/core_pattern"};

template <class T>
void append(Bytes& state, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  state.insert(state.end(), bytes, bytes + sizeof value);
}

tl::unexpected<Error> failed(const char* what) {
  const int error = errno;
  return fail(ErrorCode::kSystem,
              std::string("what a child inherits: ") + what + ": " + errno_text(error), error);
}

// From its beginning, which makes the kernel write it anew.
Result<void> append_file(int file, Bytes& state) {
  std::array<std::byte, 4'096> buffer;
  std::size_t done = 0;
  for (;;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read");
    if (got == 0) break;
    state.insert(state.end(), buffer.data(), buffer.data() + got);
    done += static_cast<std::size_t>(got);
    if (done > kMaxFileBytes) return fail(ErrorCode::kSystem, "what a child inherits is too long");
  }
  append(state, done);
  return {};
}

void append_limits(Bytes& state) {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    // The names of the resources are an enumeration of their own.
    static_cast<void>(::getrlimit(static_cast<__rlimit_resource>(resource), &limit));
    append(state, limit.rlim_cur);
    append(state, limit.rlim_max);
  }
}

// What the kernel does not know stays as it was here, before and after alike.
void append_scheduling(Bytes& state) {
  constexpr int kWhoProcess = 1;  // IOPRIO_WHO_PROCESS
  std::array<std::byte, 64> attributes{};
  static_cast<void>(::syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0));
  append(state, attributes);
  append(state, ::syscall(SYS_ioprio_get, kWhoProcess, 0));
  unsigned long cookie = 0;
  static_cast<void>(::prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, 0, &cookie));
  append(state, cookie);
}

}  // namespace

Result<InheritedState> InheritedState::open() {
  InheritedState state;
  for (const char* const file : kFiles) {
    UniqueFd opened(::open(file, O_RDONLY | O_CLOEXEC));
    if (!opened && errno == ENOENT) continue;  // a kernel without it
    if (!opened) return failed(file);
    state.files_.push_back(std::move(opened));
  }
  return state;
}

Result<Bytes> InheritedState::now() const {
  Bytes state;
  for (const UniqueFd& file : files_) LOOM_TRY_VOID(append_file(file.get(), state));
  append_limits(state);
  append(state, ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0));
  cpu_set_t processors;
  CPU_ZERO(&processors);
  // More processors than fit leave it empty, before and after alike.
  static_cast<void>(::sched_getaffinity(0, sizeof processors, &processors));
  append(state, processors);
  append_scheduling(state);
  return state;
}

}  // namespace loom::host
