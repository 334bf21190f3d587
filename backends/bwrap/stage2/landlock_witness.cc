#include "landlock_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kWriteFile = 1U << 1U;    // LANDLOCK_ACCESS_FS_WRITE_FILE
constexpr std::uint64_t kScopeSignal = 1U << 1U;  // LANDLOCK_SCOPE_SIGNAL

// Everybody may write it for himself, and nothing is written: opening it changes nothing.
bool can_write() {
  return static_cast<bool>(UniqueFd(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)));
}

// Following this link needs the right to trace, which Landlock takes away for whatever is outside.
bool can_inspect(pid_t process) {
  std::array<char, 1> target;
  const std::string link = "/proc/" + std::to_string(process) + "/exe";
  return process > 0 && ::readlink(link.c_str(), target.data(), target.size()) >= 0;
}

bool can_signal(pid_t process) { return process > 0 && ::kill(process, 0) == 0; }

// Of paths below /proc only this much can be told: the rules speak of numbers, we of "self".
bool opens_proc(const PrepareDocument& document) {
  return std::any_of(
      document.landlock_rules.begin(), document.landlock_rules.end(), [](const LandlockRule& rule) {
        const bool covers =
            rule.path == "/" || rule.path == "/proc" || rule.path.starts_with("/proc/");
        return covers && (rule.access & kWriteFile) != 0;
      });
}

}  // namespace

LandlockWitness::LandlockWitness(const PrepareDocument& document)
    : opens_proc_(opens_proc(document)), parent_(::getppid()) {
  if (!opens_proc_) could_write_ = can_write();
  if (!could_write_) could_inspect_ = can_inspect(parent_);
  if ((document.landlock_scoped & kScopeSignal) != 0) could_signal_ = can_signal(parent_);
}

std::string LandlockWitness::doubt_rules() const {
  if (could_write_) {
    if (!can_write() && errno == EACCES) return {};
    return "the rules were taken, and a file that they do not open can be opened";
  }
  if (could_inspect_) {
    if (!can_inspect(parent_) && errno == EACCES) return {};
    return "the rules were taken, and a process outside of them can be inspected";
  }
  if (saw_signal_scope()) return {};
  return "the rules were taken, and nothing here shows that they are in force";
}

bool LandlockWitness::saw_signal_scope() const {
  return could_signal_ && !can_signal(parent_) && errno == EPERM;
}

}  // namespace loom::bwrap
