#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <array>
#include <cstddef>

namespace loom::host {

// A memory file with exactly these bytes, sealed against every change, offset 0, close-on-exec.
// `name` shows in /proc/*/fd only; it is a constant, never a path or a word of a policy.
//
// Where there are no memory files (any system but Linux) it is something else that gives the bytes
// to one reader once, from the first to the last and then the end, without anybody having to write
// meanwhile; nobody can change them on the way.
[[nodiscard]] Result<UniqueFd> make_memory_file(const char* name, ByteView bytes);

// The same in two steps, of which only the second needs the bytes. Meanwhile nobody could open
// it to write but root and whoever may trace us. The descriptor is none where there are no memory
// files.
[[nodiscard]] Result<UniqueFd> begin_memory_file(const char* name);
[[nodiscard]] Result<UniqueFd> finish_memory_file(const char* name, UniqueFd begun, ByteView bytes);

// The last memory files, for whoever needs the same bytes once more: opening one again takes a
// quarter of the time of making one. Not for what a command brought along: they are kept.
class MemoryFiles {
 public:
  // As make_memory_file. The descriptor shares no offset with any other.
  [[nodiscard]] Result<UniqueFd> lend(const char* name, ByteView bytes);

  // While nobody waits: opens once more what is likely to be lent again. What fails here fails
  // again when it is needed.
  void open_ahead();

 private:
  static constexpr std::size_t kKept = 2;  // what a launch has
  static constexpr std::size_t kMaxKeptBytes = 256u << 10;
  struct Kept {
    Bytes bytes{};
    UniqueFd file{};
    UniqueFd again{};  // the same, open once more
  };
  [[nodiscard]] static UniqueFd open_again(const Kept& kept);

  std::array<Kept, kKept> kept_{};  // the oldest first
};

// A sealed, executable copy of the file behind `file` (read from its start, at most `max_bytes`).
// Fails with kUnsupported where the system forbids executable memory files (vm.memfd_noexec), or
// has none.
[[nodiscard]] Result<UniqueFd> make_executable_copy(const char* name, int file,
                                                    std::size_t max_bytes);

// Reads from `fd` to end of file. More than `max_bytes` is an error that names `what`, or, with
// `cut_at_limit`, ends the reading there.
[[nodiscard]] Result<Bytes> read_all(int fd, std::size_t max_bytes, const char* what,
                                     bool cut_at_limit = false);

}  // namespace loom::host
