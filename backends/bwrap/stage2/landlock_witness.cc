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

using Place = LandlockWitness::Place;

// Opening either changes nothing: nothing is written to the one, and the file without a name is
// gone when it is closed.
bool can_write(Place place) {
  const bool knob = place == Place::kOwnKnob;
  return static_cast<bool>(UniqueFd(::open(knob ? "/proc/self/oom_score_adj" : "/dev",
                                           O_WRONLY | O_CLOEXEC | (knob ? 0 : O_TMPFILE), 0)));
}

// Following this link needs the right to trace, which Landlock takes away for whatever is outside.
bool can_inspect(pid_t process) {
  std::array<char, 1> target;
  const std::string link = "/proc/" + std::to_string(process) + "/exe";
  return process > 0 && ::readlink(link.c_str(), target.data(), target.size()) >= 0;
}

bool can_signal(pid_t process) { return process > 0 && ::kill(process, 0) == 0; }

// Whether the rules let it be written. Of paths below /proc only this much can be told: the rules
// speak of numbers, we of "self".
bool opens(const PrepareDocument& document, Place place) {
  const bool knob = place == Place::kOwnKnob;
  return std::any_of(document.landlock_rules.begin(), document.landlock_rules.end(),
                     [knob](const LandlockRule& rule) {
                       const bool covers = rule.path == "/" ||
                                           rule.path == (knob ? "/proc" : "/dev") ||
                                           (knob && rule.path.starts_with("/proc/"));
                       return covers && (rule.access & kWriteFile) != 0;
                     });
}

// Where we may write now and must not once the rules are in force.
std::optional<Place> find_place(const PrepareDocument& document) {
  if (!opens(document, Place::kOwnKnob) && can_write(Place::kOwnKnob)) return Place::kOwnKnob;
  // The host's /proc is read-only there.
  if (!document.shares_pids || opens(document, Place::kOwnDevices)) return std::nullopt;
  return can_write(Place::kOwnDevices) ? std::optional(Place::kOwnDevices) : std::nullopt;
}

}  // namespace

LandlockWitness::LandlockWitness(const PrepareDocument& document)
    : parent_(::getppid()), could_write_(find_place(document)) {
  if (!could_write_) could_inspect_ = can_inspect(parent_);
  if ((document.landlock_scoped & kScopeSignal) != 0) could_signal_ = can_signal(parent_);
}

std::string LandlockWitness::doubt_rules() const {
  if (could_write_) {
    if (!can_write(*could_write_) && errno == EACCES) return {};
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
