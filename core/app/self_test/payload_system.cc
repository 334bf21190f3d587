#include "app/self_test/payload_system.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace loom::app {
namespace {

bool status_says(std::string_view line) {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return false;
  std::array<char, 256> buffer{};
  bool found = false;
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), file) != nullptr) {
    std::string_view text(buffer.data());
    if (text.ends_with('\n')) text.remove_suffix(1);
    found = found || text == line;
  }
  std::fclose(file);
  return found;
}

}  // namespace

NamespaceAnswer try_namespaces() {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
    // A system that switches user namespaces off for this user answers EPERM too, without a filter.
    const bool filtered = errno == EPERM && status_says("Seccomp:\t2");
    return filtered ? NamespaceAnswer::kRefusedByFilter : NamespaceAnswer::kRefusedOtherwise;
  }
  // What every launcher does first. Landlock lets no process of a domain change the mount tree.
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
    return NamespaceAnswer::kMade;
  }
  const bool restricted = errno == EPERM && status_says("NoNewPrivs:\t1");
  return restricted ? NamespaceAnswer::kRefusedByDomain : NamespaceAnswer::kRefusedOtherwise;
}

void end_with_parent() noexcept { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace loom::app
