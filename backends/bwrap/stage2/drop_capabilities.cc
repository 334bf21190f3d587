#include "drop_capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace loom::bwrap {
namespace {

using CapabilitySet = std::uint64_t;  // one bit a capability

constexpr std::array<std::string_view, 41> kNames = {"CHOWN",
                                                     "DAC_OVERRIDE",
                                                     "DAC_READ_SEARCH",
                                                     "FOWNER",
                                                     "FSETID",
                                                     "KILL",
                                                     "SETGID",
                                                     "SETUID",
                                                     "SETPCAP",
                                                     "LINUX_IMMUTABLE",
                                                     "NET_BIND_SERVICE",
                                                     "NET_BROADCAST",
                                                     "NET_ADMIN",
                                                     "NET_RAW",
                                                     "IPC_LOCK",
                                                     "IPC_OWNER",
                                                     "SYS_MODULE",
                                                     "SYS_RAWIO",
                                                     "SYS_CHROOT",
                                                     "SYS_PTRACE",
                                                     "SYS_PACCT",
                                                     "SYS_ADMIN",
                                                     "SYS_BOOT",
                                                     "SYS_NICE",
                                                     "SYS_RESOURCE",
                                                     "SYS_TIME",
                                                     "SYS_TTY_CONFIG",
                                                     "MKNOD",
                                                     "LEASE",
                                                     "AUDIT_WRITE",
                                                     "AUDIT_CONTROL",
                                                     "SETFCAP",
                                                     "MAC_OVERRIDE",
                                                     "MAC_ADMIN",
                                                     "SYSLOG",
                                                     "WAKE_ALARM",
                                                     "BLOCK_SUSPEND",
                                                     "AUDIT_READ",
                                                     "PERFMON",
                                                     "BPF",
                                                     "CHECKPOINT_RESTORE"};

struct ProcessSets {
  CapabilitySet effective = 0;
  CapabilitySet permitted = 0;
  CapabilitySet inheritable = 0;
};

constexpr CapabilitySet bit(std::uint32_t number) noexcept { return CapabilitySet{1} << number; }

tl::unexpected<Failure> stop_at(const char* thing, int error) {
  return stop(Stage2Step::kCapabilities, thing, error);
}

constexpr std::uint32_t low(CapabilitySet set) noexcept { return static_cast<std::uint32_t>(set); }
constexpr std::uint32_t high(CapabilitySet set) noexcept {
  return static_cast<std::uint32_t>(set >> 32U);
}

StepResult<ProcessSets> read_sets() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return stop_at("capget", errno);
  const auto join = [](std::uint32_t lower, std::uint32_t upper) {
    return CapabilitySet{upper} << 32U | lower;
  };
  return ProcessSets{.effective = join(data[0].effective, data[1].effective),
                     .permitted = join(data[0].permitted, data[1].permitted),
                     .inheritable = join(data[0].inheritable, data[1].inheritable)};
}

StepResult<void> write_sets(const ProcessSets& sets) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  data[0] = {.effective = low(sets.effective),
             .permitted = low(sets.permitted),
             .inheritable = low(sets.inheritable)};
  data[1] = {.effective = high(sets.effective),
             .permitted = high(sets.permitted),
             .inheritable = high(sets.inheritable)};
  if (::syscall(SYS_capset, &header, data.data()) != 0) return stop_at("capset", errno);
  return {};
}

// The bits of 0, 1, 2, … for which `holds` says 1, up to the first number that the kernel does not
// know.
template <class Holds>
CapabilitySet collect(Holds holds) {
  CapabilitySet set = 0;
  for (std::uint32_t number = 0; number < 64; ++number) {
    const int held = holds(number);
    if (held < 0) break;
    if (held > 0) set |= bit(number);
  }
  return set;
}

CapabilitySet read_bounding() {
  return collect([](std::uint32_t number) { return ::prctl(PR_CAPBSET_READ, number, 0, 0, 0); });
}

CapabilitySet read_ambient() {
  return collect([](std::uint32_t number) {
    return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, number, 0, 0);
  });
}

// Kernels before 4.3 have no ambient set and answer EINVAL: nothing to clear, nothing to raise.
StepResult<void> set_ambient(CapabilitySet keep) {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) {
    return stop_at("ambient set", errno);
  }
  for (std::uint32_t number = 0; number < 64; ++number) {
    if ((keep & bit(number)) == 0) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0) {
      return stop(Stage2Step::kCapabilities, capability_name(number), errno);
    }
  }
  return {};
}

// Both need CAP_SETPCAP in the effective set.
StepResult<void> drop_bounding_and_root(CapabilitySet keep) {
  static constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
                                         SECBIT_NO_CAP_AMBIENT_RAISE |
                                         SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  const int before = ::prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  if (before < 0 ||
      ::prctl(PR_SET_SECUREBITS, static_cast<unsigned long>(before) | kBits, 0, 0, 0) != 0) {
    return stop_at("securebits", errno);
  }
  for (std::uint32_t number = 0; number < 64; ++number) {
    if ((keep & bit(number)) != 0) continue;
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno == EINVAL) break;  // past the kernel's last one
    return stop_at("bounding set", errno);
  }
  return {};
}

StepResult<CapabilitySet> judge_keep(const std::vector<std::uint32_t>& keep,
                                     CapabilitySet permitted) {
  CapabilitySet set = 0;
  for (const std::uint32_t number : keep) {
    if ((permitted & bit(number)) == 0) {
      return stop(Stage2Step::kCapabilities, capability_name(number) + " is not held");
    }
    set |= bit(number);
  }
  return set;
}

void append_word(std::string& list, std::string_view word) {
  if (!list.empty()) list.push_back(',');
  list.append(word);
}

std::string render_set(CapabilitySet set) {
  std::string list;
  for (std::uint32_t number = 0; number < 64; ++number) {
    if ((set & bit(number)) != 0) append_word(list, capability_name(number));
  }
  return list.empty() ? "none" : list;
}

// No capability is ever ambient that is not both permitted and inheritable (capabilities(7)): where
// that is none, the kernel need not be asked forty times.
CapabilitySet read_ambient(const ProcessSets& sets) {
  return (sets.permitted & sets.inheritable) == 0 ? 0 : read_ambient();
}

// Claims only what reading back shows.
StepResult<std::vector<std::string>> read_entries(CapabilitySet keep) {
  LOOM_TRY(const ProcessSets sets, read_sets());
  std::string excess;
  if (sets.effective != keep) append_word(excess, "effective");
  if (sets.permitted != keep) append_word(excess, "permitted");
  if (sets.inheritable != keep) append_word(excess, "inheritable");
  if (read_ambient(sets) != keep) append_word(excess, "ambient");
  if ((read_bounding() & ~keep) != 0) append_word(excess, "bounding");
  std::vector<std::string> entries;
  if (excess.empty() || keep != 0) entries.push_back("caps=" + render_set(keep));
  if (!excess.empty()) entries.push_back("unheld:caps=" + excess);
  return entries;
}

}  // namespace

std::string capability_name(std::uint32_t number) {
  if (number >= kNames.size()) return "CAP_" + std::to_string(number);
  return std::string("CAP_").append(kNames[number]);
}

StepResult<std::vector<std::string>> drop_capabilities(const std::vector<std::uint32_t>& keep) {
  LOOM_TRY(const ProcessSets held, read_sets());
  LOOM_TRY(const CapabilitySet kept, judge_keep(keep, held.permitted));
  // Everything permitted becomes effective once more, for what needs CAP_SETPCAP; the inheritable
  // set must hold what is to become ambient.
  LOOM_TRY_VOID(
      write_sets({.effective = held.permitted, .permitted = held.permitted, .inheritable = kept}));
  LOOM_TRY_VOID(set_ambient(kept));
  if ((held.permitted & bit(CAP_SETPCAP)) != 0) LOOM_TRY_VOID(drop_bounding_and_root(kept));
  LOOM_TRY_VOID(write_sets({.effective = kept, .permitted = kept, .inheritable = kept}));
  return read_entries(kept);
}

}  // namespace loom::bwrap
