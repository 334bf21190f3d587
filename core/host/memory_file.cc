#include "host/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "host/add_seals.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

// Newer than the C library's header of Debian 12: linux/memfd.h (6.3) and linux/fcntl.h (6.3).
constexpr unsigned kMfdNoexecSeal = 0x0008;
constexpr unsigned kMfdExec = 0x0010;
constexpr int kSealExec = 0x0020;

constexpr std::size_t kCopyBytes = 8u << 20;
constexpr off_t kReservedBytes = 1;  // the kernel makes a page of it

enum class Use : unsigned char { kData, kProgram };

tl::unexpected<Error> step_failed(const char* name, const char* step, int error) {
  return fail(ErrorCode::kSystem,
              "memory file " + std::string(name) + ": " + step + ": " + errno_text(error), error);
}

Result<UniqueFd> create(const char* name, Use use) {
  const unsigned wanted = use == Use::kProgram ? kMfdExec : kMfdNoexecSeal;
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | wanted));
  if (!file && errno == EINVAL) {  // before 6.3 every memory file is executable
    file.reset(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  if (file) return file;
  const int error = errno;
  if (use == Use::kProgram && (error == EACCES || error == EPERM)) {
    return fail(ErrorCode::kUnsupported,
                "memory file " + std::string(name) + ": executable memory files are forbidden here",
                error);
  }
  return step_failed(name, "create", error);
}

// The offset stays 0.
Result<void> fill(int file, const char* name, ByteView bytes) {
  off_t at = 0;
  while (!bytes.empty()) {
    const ssize_t wrote = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return step_failed(name, "write", errno);
    at += wrote;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

// Security: a holder may reopen the file through /proc/<pid>/fd for writing, whatever our
// descriptor allows. The mode stops everybody but root, the seals stop root too.
Result<void> restrict_mode(int file, const char* name, Use use) {
  if (::fchmod(file, use == Use::kProgram ? 0500 : 0400) == 0) return {};
  return step_failed(name, "change mode", errno);
}

Result<UniqueFd> create_closed(const char* name) {
  LOOM_TRY(UniqueFd file, create(name, Use::kData));
  LOOM_TRY_VOID(restrict_mode(file.get(), name, Use::kData));
  return file;
}

Result<void> seal(int file, const char* name) {
  const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  int error = add_seals(file, seals | kSealExec);
  if (error == EINVAL) error = add_seals(file, seals);
  if (error != 0) return step_failed(name, "seal", error);
  return {};
}

// Inside the kernel: nothing of a program of a megabyte passes through our memory at start-up.
Result<void> copy_contents(int from, int to, const char* name, std::size_t max_bytes) {
  off_t total = 0;
  for (;;) {
    const ssize_t got = ::sendfile(to, from, &total, kCopyBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return step_failed(name, "copy the original", errno);
    if (got == 0) return {};
    if (static_cast<std::size_t>(total) > max_bytes) {
      return fail(ErrorCode::kInvalidRequest, "memory file " + std::string(name) +
                                                  ": the original is larger than " +
                                                  std::to_string(max_bytes) + " bytes");
    }
  }
}

}  // namespace

Result<UniqueFd> begin_memory_file(const char* name) {
  LOOM_TRY(UniqueFd file, create_closed(name));
  // Half of what a short write takes is to find a page for it.
  static_cast<void>(::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, kReservedBytes));
  return file;
}

Result<UniqueFd> finish_memory_file(const char* name, UniqueFd begun, ByteView bytes) {
  LOOM_TRY_VOID(fill(begun.get(), name, bytes));
  LOOM_TRY_VOID(seal(begun.get(), name));
  return begun;
}

Result<UniqueFd> make_memory_file(const char* name, ByteView bytes) {
  LOOM_TRY(UniqueFd begun, create_closed(name));
  return finish_memory_file(name, std::move(begun), bytes);
}

Result<UniqueFd> MemoryFiles::lend(const char* name, ByteView bytes) {
  for (Kept& kept : kept_) {
    if (!kept.file || as_text(kept.bytes) != as_text(bytes)) continue;
    if (kept.again) return std::move(kept.again);
    if (UniqueFd again = open_again(kept)) return again;
  }
  LOOM_TRY(UniqueFd made, make_memory_file(name, bytes));
  if (bytes.size() > kMaxKeptBytes) return made;
  // Who is lent a file later gets an open file of its own, with an offset of its own.
  const int copy = ::fcntl(made.get(), F_DUPFD_CLOEXEC, 0);
  if (copy >= 0) {
    std::rotate(kept_.begin(), kept_.begin() + 1, kept_.end());
    kept_.back() = {.bytes = Bytes(bytes.begin(), bytes.end()), .file = UniqueFd(copy)};
  }
  return made;
}

void MemoryFiles::open_ahead() {
  for (Kept& kept : kept_) {
    if (kept.file && !kept.again) kept.again = open_again(kept);
  }
}

UniqueFd MemoryFiles::open_again(const Kept& kept) {
  const std::string path = "/proc/self/fd/" + std::to_string(kept.file.get());
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

Result<UniqueFd> make_executable_copy(const char* name, int file, std::size_t max_bytes) {
  LOOM_TRY(UniqueFd copy, create(name, Use::kProgram));
  LOOM_TRY_VOID(copy_contents(file, copy.get(), name, max_bytes));
  LOOM_TRY_VOID(restrict_mode(copy.get(), name, Use::kProgram));
  LOOM_TRY_VOID(seal(copy.get(), name));
  if (::lseek(copy.get(), 0, SEEK_SET) != 0) return step_failed(name, "rewind", errno);
  return copy;
}

}  // namespace loom::host
