#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "account_processes.h"

// For tests on a system with /proc, where RLIMIT_NPROC means the same except that threads count as
// well. Nothing that ships is linked with it.
namespace loom::seatbelt {
namespace {

// "Uid:\t<real>\t<effective>…" of /proc/<pid>/status. false for a process that has gone.
bool is_ours(const std::string& pid, uid_t uid) {
  std::ifstream status("/proc/" + pid + "/status");
  std::string word;
  while (status >> word) {
    if (word != "Uid:") continue;
    uid_t real = 0;
    return static_cast<bool>(status >> real) && real == uid;
  }
  return false;
}

}  // namespace

Result<std::uint64_t> count_account_processes() {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  if (!proc) return fail(ErrorCode::kSystem, "open /proc", errno);
  std::uint64_t count = 0;
  for (;;) {
    errno = 0;  // the only way to tell the end from a failure (readdir(3))
    const dirent* const entry = ::readdir(proc.get());
    if (entry == nullptr && errno != 0) return fail(ErrorCode::kSystem, "list /proc", errno);
    if (entry == nullptr) return count;
    const std::string name = entry->d_name;
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number && is_ours(name, ::getuid())) ++count;
  }
}

Result<std::uint64_t> read_account_ceiling() {
  std::ifstream file("/proc/sys/kernel/threads-max");
  std::uint64_t ceiling = 0;
  if (!(file >> ceiling)) return fail(ErrorCode::kSystem, "read threads-max", EIO);
  return ceiling;
}

}  // namespace loom::seatbelt
