#include <errno.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "account_processes.h"

// Only macOS has these. The filter of KERN_PROC_RUID works while there is room in the buffer, and
// every process behind that counts (xnu, bsd/kern/kern_sysctl.c, sysdoproc_callback): so the
// buffer is as large as for all processes, and a full one is tried again, larger.
namespace loom::seatbelt {
namespace {

constexpr int kAttempts = 8;

auto fail_with(const char* what, int error) {
  return fail(ErrorCode::kSystem, std::string(what), error);
}

}  // namespace

Result<std::uint64_t> count_account_processes() {
  std::array<int, 4> name = {CTL_KERN, KERN_PROC, KERN_PROC_RUID, static_cast<int>(::getuid())};
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    std::size_t bytes = 0;
    if (::sysctl(name.data(), name.size(), nullptr, &bytes, nullptr, 0) != 0) {
      return fail_with("size of the process table", errno);
    }
    // An eighth more than the kernel's estimate, and again for each attempt before.
    std::vector<kinfo_proc> rows(
        bytes / sizeof(kinfo_proc) * (8U + static_cast<unsigned>(attempt)) / 8U + 8U);
    bytes = rows.size() * sizeof(kinfo_proc);
    if (::sysctl(name.data(), name.size(), rows.data(), &bytes, nullptr, 0) == 0) {
      const std::uint64_t count = bytes / sizeof(kinfo_proc);
      // We are one of them.
      if (count == 0) return fail_with("an empty process table", 0);
      return count;
    }
    if (errno != ENOMEM) return fail_with("process table", errno);
  }
  return fail_with("process table", ENOMEM);
}

Result<std::uint64_t> read_account_ceiling() {
  std::array<int, 2> name = {CTL_KERN, KERN_MAXPROCPERUID};
  int value = 0;
  std::size_t bytes = sizeof value;
  if (::sysctl(name.data(), name.size(), &value, &bytes, nullptr, 0) != 0) {
    return fail_with("kern.maxprocperuid", errno);
  }
  if (bytes != sizeof value || value <= 0) return fail_with("kern.maxprocperuid", 0);
  return static_cast<std::uint64_t>(value);
}

}  // namespace loom::seatbelt
