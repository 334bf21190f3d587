#include "landlock_rules.h"

#include <algorithm>
#include <utility>

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kDeviceRights = kReadFile | kWriteFile | kDeviceIoctl;

// The jail's own devices. Elsewhere only /dev/null is opened: the rest of /dev would be the host's.
std::vector<LandlockRule> devices(bool jailed) {
  std::vector<LandlockRule> rules = {
      {.path = "/dev/null", .access = kDeviceRights | kExecute | kTruncate, .required = true}};
  if (!jailed) return rules;
  for (const char* device : {"/dev/full", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"}) {
    rules.push_back({.path = device, .access = kDeviceRights, .required = false});
  }
  rules.push_back({.path = "/dev/pts",
                   .access = kDeviceRights | kReadDirectory | kTruncate,
                   .required = false});
  rules.push_back({.path = "/dev/shm", .access = kReadWrite, .required = false});
  return rules;
}

// An absent readable root needs no rule, and its path may lead through links in circles, which
// stage 2 takes for an exchange.
std::vector<std::string> sorted_reals(const RunMemo& memo, PathRole role) {
  std::vector<std::string> paths;
  for (const Subject& subject : memo.subjects) {
    const bool needless = role == PathRole::kReadableRoot && !subject.present;
    if (subject.role == role && !needless) paths.push_back(subject.real.str());
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::vector<std::string> bound_read_write(const RunMemo& memo) {
  std::vector<std::string> paths;
  for (const Subject& subject : memo.subjects) {
    if (subject.role == PathRole::kMount && subject.writable && subject.present) {
      paths.push_back(subject.real.str());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void append(std::vector<LandlockRule>& rules, const std::vector<std::string>& paths,
            std::uint64_t access) {
  for (const std::string& path : paths) {
    rules.push_back({.path = path, .access = access, .required = false});
  }
}

}  // namespace

LandlockView landlock_view(const RunMemo& memo) {
  LandlockView view{.readable = sorted_reals(memo, PathRole::kReadableRoot),
                    .writable = sorted_reals(memo, PathRole::kWritableRoot),
                    .devices = devices(memo.jailed),
                    .scratch = {}};
  if (memo.jailed) {
    for (std::string& path : bound_read_write(memo)) view.writable.push_back(std::move(path));
  }
  for (const Subject& subject : memo.subjects) {
    if (subject.role != PathRole::kScratch) continue;
    if (memo.jailed || !memo.scratch_is_tmpfs) view.scratch = subject.real.str();
  }
  return view;
}

std::uint64_t handled_rights(std::uint32_t abi) noexcept {
  std::uint64_t rights = abi > 0 ? kFirstRights : 0;
  if (abi >= kReferAbi) rights |= kRefer;
  if (abi >= kTruncateAbi) rights |= kTruncate;
  if (abi >= kDeviceIoctlAbi) rights |= kDeviceIoctl;
  return rights;
}

std::uint64_t handled_scopes(std::uint32_t abi) noexcept {
  return abi >= kScopeAbi ? kScopeAbstractSocket | kScopeSignal : 0;
}

std::vector<LandlockRule> landlock_rules(const LandlockView& view, std::uint32_t abi) {
  std::vector<LandlockRule> rules = {{.path = "/", .access = kReadOnly, .required = true}};
  append(rules, view.readable, kReadOnly);
  append(rules, view.writable, kReadWrite);
  rules.insert(rules.end(), view.devices.begin(), view.devices.end());
  if (view.scratch) append(rules, {*view.scratch}, kReadWrite);
  const std::uint64_t handled = handled_rights(abi);
  for (LandlockRule& rule : rules) rule.access &= handled;
  return rules;
}

}  // namespace loom::bwrap
