#include "host/memory_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <utility>

#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/posix/memory_file.h"
#include "host/posix/stream_socket.h"
#include "host/random_name.h"

namespace loom::host {

namespace {

constexpr const char* kWhat = "memory file";
// Beyond it a socket's buffer is no place (kern.ipc.maxsockbuf, net.core.wmem_max).
constexpr std::size_t kMostInSocket = 1u << 20;

tl::unexpected<Error> step_failed(const char* step, int error) {
  return fail(ErrorCode::kSystem, std::string(kWhat) + ": " + step + ": " + errno_text(error),
              error);
}

tl::unexpected<Error> does_not_fit() {
  return fail(ErrorCode::kUnsupported, std::string(kWhat) + ": the bytes do not fit");
}

// Whether a descriptor that does not block takes all of it.
Result<bool> takes_all(int fd, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && (errno == EAGAIN || errno == ENOBUFS)) return false;
    if (wrote < 0) return step_failed("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

// The reader of a description that does not block would have to be told.
Result<UniqueFd> as_blocking(UniqueFd fd) {
  if (::fcntl(fd.get(), F_SETFL, 0) != 0) return step_failed("set up", errno);
  return fd;
}

void ask_for_room(int socket, std::size_t bytes) noexcept {
  const int wanted = static_cast<int>(bytes) + 4'096;
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
}

}  // namespace

Result<UniqueFd> in_pipe(ByteView bytes) {
  LOOM_TRY(PipeEnds pipe, open_nonblocking_pipe());
  LOOM_TRY(const bool all, takes_all(pipe.write_end.get(), bytes));
  if (!all) return does_not_fit();
  return as_blocking(std::move(pipe.read_end));
}

Result<UniqueFd> in_socket(ByteView bytes) {
  if (bytes.size() > kMostInSocket) return does_not_fit();
  LOOM_TRY(StreamPair pair, make_stream_pair(kWhat));
  LOOM_TRY_VOID(set_nonblocking(kWhat, pair.other.get()));
  ask_for_room(pair.one.get(), bytes.size());
  ask_for_room(pair.other.get(), bytes.size());
  LOOM_TRY(const bool all, takes_all(pair.other.get(), bytes));
  if (!all) return does_not_fit();
  return std::move(pair.one);
}

// The name is there for two calls, and the mode keeps others out meanwhile. A reader of the same
// user finds nothing that it could write to: the descriptor for writing is closed.
Result<UniqueFd> in_unlinked_file(ByteView bytes) {
  LOOM_TRY(const std::string suffix, random_hex(16));
  const std::string name = "/tmp/loom-exec-" + suffix;
  UniqueFd out(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return step_failed("create", errno);
  UniqueFd in(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const int open_error = errno;
  ::unlink(name.c_str());
  if (!in) return step_failed("open", open_error);
  struct stat written {};
  struct stat read {};
  const bool same = ::fstat(out.get(), &written) == 0 && ::fstat(in.get(), &read) == 0 &&
                    written.st_dev == read.st_dev && written.st_ino == read.st_ino;
  if (!same) return step_failed("open", ESTALE);
  LOOM_TRY(const bool all, takes_all(out.get(), bytes));
  if (!all) return does_not_fit();
  return in;
}

Result<UniqueFd> MemoryFiles::lend(const char* name, ByteView bytes) {
  return make_memory_file(name, bytes);
}

// One that was not asked for would have to be filled by somebody.
void MemoryFiles::open_ahead() {}

Result<UniqueFd> make_memory_file(const char*, ByteView bytes) {
  for (const auto& kind : {&in_pipe, &in_socket}) {
    auto file = kind(bytes);
    if (file || file.error().code != ErrorCode::kUnsupported) return file;
  }
  return in_unlinked_file(bytes);
}

Result<UniqueFd> begin_memory_file(const char*) { return UniqueFd(); }

Result<UniqueFd> finish_memory_file(const char* name, UniqueFd, ByteView bytes) {
  return make_memory_file(name, bytes);
}

Result<UniqueFd> make_executable_copy(const char* name, int, std::size_t) {
  return fail(ErrorCode::kUnsupported,
              "memory file " + std::string(name) + ": this system has no executable memory files");
}

}  // namespace loom::host
