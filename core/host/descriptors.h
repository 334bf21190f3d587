#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include <cstddef>

namespace loom::host {

// What systems call by different names, or do in one step or in two. Everything is born
// close-on-exec; where that takes a second step, no process of ours is forked in between.

struct PipeEnds {
  UniqueFd read_end;
  UniqueFd write_end;
};
// Blocking ends. Fails with kSystem.
[[nodiscard]] Result<PipeEnds> open_pipe();
// The same, both ends non-blocking.
[[nodiscard]] Result<PipeEnds> open_nonblocking_pipe();

// Lets a pipe hold `bytes`, where a pipe's size can be asked for and the user may have as much.
void enlarge_pipe(int pipe, int bytes) noexcept;
// Bytes: what is in a pipe now is no more than that, even if each read of it counts as a page at
// least. A piece that was spliced from a socket may be larger than a page, a packet smaller.
[[nodiscard]] std::size_t most_in_pipe(int pipe) noexcept;

// Closes every descriptor from `first` on.
void close_descriptors_from(int first) noexcept;
// Leaves them open for this process and for nothing that it executes.
void keep_descriptors_from(int first) noexcept;

// Whether `fd` is good for nothing but a name (O_PATH, Linux): no data goes through it.
[[nodiscard]] bool is_only_a_name(int fd_flags) noexcept;

// Events of poll(2) for a pipe or a stream socket of which nothing is wanted but the word that the
// other side has gone, whatever data is left. 0 where poll tells of that only together with data:
// there whoever needs to know asks is_hung_up from time to time.
#if defined(__linux__)
inline constexpr short kHangUpOnly = POLLPRI | POLLRDHUP;
#else
inline constexpr short kHangUpOnly = 0;
#endif
// Does not wait.
[[nodiscard]] bool is_hung_up(int fd) noexcept;

// When a file's contents and when its inode changed last.
[[nodiscard]] inline timespec modified_at(const struct stat& about) noexcept {
#if defined(__APPLE__)
  return about.st_mtimespec;
#else
  return about.st_mtim;
#endif
}
[[nodiscard]] inline timespec changed_at(const struct stat& about) noexcept {
#if defined(__APPLE__)
  return about.st_ctimespec;
#else
  return about.st_ctim;
#endif
}

}  // namespace loom::host
