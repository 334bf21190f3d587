#include "host/inherited_state.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {
namespace {

constexpr std::size_t kMaxStateBytes = 1u << 20;
constexpr const char* kFiles[] = {"/proc/self/cgroup", "/proc/self/limits",
                                  "/proc/self/oom_score_adj", "/proc/self/timerslack_ns",
                                  "/proc/sys/kernel/core_pattern"};

Result<Bytes> contents_of(const char* file) {
  const UniqueFd opened(::open(file, O_RDONLY | O_CLOEXEC));
  if (!opened && errno == ENOENT) return Bytes();  // a kernel without it
  if (!opened) {
    const int error = errno;
    return fail(ErrorCode::kSystem, std::string("open ") + file + ": " + errno_text(error), error);
  }
  return read_all(opened.get(), kMaxStateBytes, file);
}

template <class T>
void append(Bytes& state, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  state.insert(state.end(), bytes, bytes + sizeof value);
}

}  // namespace

Result<Bytes> inherited_state() {
  Bytes state;
  for (const char* const file : kFiles) {
    LOOM_TRY(const Bytes text, contents_of(file));
    append(state, text.size());
    state.insert(state.end(), text.begin(), text.end());
  }
  cpu_set_t processors;
  CPU_ZERO(&processors);
  // More processors than fit leave it empty, before and after alike.
  static_cast<void>(::sched_getaffinity(0, sizeof processors, &processors));
  append(state, processors);
  append(state, ::getpriority(PRIO_PROCESS, 0));
  append(state, ::sched_getscheduler(0));
  return state;
}

}  // namespace loom::host
