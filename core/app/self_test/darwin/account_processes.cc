#include "app/self_test/account_processes.h"

#include <sys/sysctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "host/errno_text.h"

namespace loom::app {

Result<std::uint64_t> count_account_processes() {
  // The table grows between two readings; more than a few times in a row it does not.
  static constexpr int kReadings = 8;
  std::array<int, 4> name = {CTL_KERN, KERN_PROC, KERN_PROC_RUID, static_cast<int>(::getuid())};
  const auto words = static_cast<u_int>(name.size());
  int error = ENOMEM;
  for (int reading = 0; reading < kReadings && error == ENOMEM; ++reading) {
    std::size_t size = 0;  // bytes; the kernel adds some room of its own
    if (::sysctl(name.data(), words, nullptr, &size, nullptr, 0) != 0) {
      error = errno;
      break;
    }
    std::vector<kinfo_proc> table(size / sizeof(kinfo_proc) + 1);
    size = table.size() * sizeof(kinfo_proc);
    if (::sysctl(name.data(), words, table.data(), &size, nullptr, 0) == 0) {
      return std::uint64_t{size / sizeof(kinfo_proc)};
    }
    error = errno;
  }
  return fail(ErrorCode::kSystem,
              "the account's processes cannot be counted: " + host::errno_text(error), error);
}

}  // namespace loom::app
