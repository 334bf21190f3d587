#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "restrict.h"

namespace landlock::stage2 {
namespace {

constexpr unsigned kMostCapabilities = 64;

using Sets = std::array<__user_cap_data_struct, 2>;

void capability_call(long number, Sets& sets, const char* name) noexcept {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  if (::syscall(number, &header, sets.data()) != 0) give_up(Step::kCapabilities, name, errno);
}

// Needs CAP_SETPCAP in the effective set.
void clear_bounding_and_root() noexcept {
  static constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                                         SECBIT_NO_CAP_AMBIENT_RAISE |
                                         SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  const int before = ::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  if (before < 0 ||
      ::prctl(PR_SET_SECUREBITS, static_cast<unsigned long>(before) | kBits, 0, 0, 0) != 0) {
    give_up(Step::kCapabilities, "securebits", errno);
  }
  for (unsigned number = 0; number < kMostCapabilities; ++number) {
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno == EINVAL) break;  // past the kernel's last one
    give_up(Step::kCapabilities, "bounding set", errno);
  }
}

bool is_bounding_empty() noexcept {
  for (unsigned number = 0; number < kMostCapabilities; ++number) {
    const int held = ::prctl(PR_CAPBSET_READ, number, 0, 0, 0);
    if (held < 0) break;
    if (held > 0) return false;
  }
  return true;
}

}  // namespace

CapabilityState drop_capabilities() noexcept {
  Sets sets{};
  capability_call(SYS_capget, sets, "capget");
  const bool may_clear_all = (sets[0].permitted & 1U << CAP_SETPCAP) != 0;
  if (may_clear_all) {
    for (auto& part : sets) part.effective = part.permitted;
    capability_call(SYS_capset, sets, "capset");
    clear_bounding_and_root();
  }
  // What is neither permitted nor inheritable is not ambient either (capabilities(7)).
  sets = {};
  capability_call(SYS_capset, sets, "capset");
  capability_call(SYS_capget, sets, "capget");
  bool empty = true;
  for (const auto& part : sets) {
    empty = empty && part.effective == 0 && part.permitted == 0 && part.inheritable == 0;
  }
  if (!empty) give_up(Step::kCapabilities, "capabilities do not read back", 0);
  return {.empty = is_bounding_empty(), .bounding = !is_bounding_empty()};
}

}  // namespace landlock::stage2
