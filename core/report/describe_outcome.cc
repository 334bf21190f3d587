#include "report/describe_outcome.h"

#include <algorithm>
#include <system_error>

#include "report/entry_text.h"
#include "report/signal_name.h"

namespace loom {
namespace {

constexpr int kNoJail = 125;      // stage 2 never decided anything
constexpr int kRefused = 126;     // stage 2, or the program's permissions
constexpr int kNotThere = 127;    // the program is not there
constexpr int kSignalBase = 128;  // a shell shows 128 + n for signal n
constexpr int kHighestSignal = 64;

// Numbers of <errno.h> that tell a missing program from a forbidden one.
bool is_absent(std::int32_t error) {
  return error == 0 || error == static_cast<std::int32_t>(std::errc::no_such_file_or_directory) ||
         error == static_cast<std::int32_t>(std::errc::not_a_directory);
}

// ": No such file or directory", or nothing when no system call was involved.
std::string because(std::int32_t error) {
  return error == 0 ? std::string() : ": " + std::generic_category().message(error);
}

Outcome ended(OutcomeClass outcome, std::string detail, int shell_status) {
  return Outcome{.outcome = outcome,
                 .detail = std::move(detail),
                 .first_cause = {},
                 .shell_status = shell_status};
}

Outcome describe_lookup(const ControlMessage& failure) {
  if (is_absent(failure.error)) {
    return ended(OutcomeClass::kExec, "program " + failure.detail + ": not found in the jail",
                 kNotThere);
  }
  return ended(OutcomeClass::kExec, "program " + failure.detail + because(failure.error), kRefused);
}

// The file itself was found, so what is absent is the program that the file names.
Outcome describe_execute(const ControlMessage& failure) {
  if (failure.error != 0 && is_absent(failure.error)) {
    return ended(OutcomeClass::kExec,
                 "program " + failure.detail +
                     ": the file is there, but its interpreter or loader is not in the jail's view",
                 kRefused);
  }
  return ended(OutcomeClass::kExec, "program " + failure.detail + because(failure.error), kRefused);
}

Outcome describe_failure(const ControlMessage& failure) {
  if (failure.step == Stage2Step::kLookup) return describe_lookup(failure);
  if (failure.step == Stage2Step::kExecute) return describe_execute(failure);
  const std::string what = failure.step == Stage2Step::kDirectory
                               ? std::string("cwd")
                               : "stage 2, " + std::string(stage2_step_name(failure.step));
  const std::string thing = failure.detail.empty() ? std::string() : " " + failure.detail;
  return ended(OutcomeClass::kSetup, what + thing + because(failure.error), kRefused);
}

Outcome describe_host_exec(const OutcomeFacts& facts) {
  const std::int32_t error = *facts.host_exec_error;
  if (facts.had_stage2) {
    return ended(OutcomeClass::kSetup, "the jail could not be started" + because(error), kNoJail);
  }
  return ended(OutcomeClass::kExec, "program" + because(error),
               is_absent(error) ? kNotThere : kRefused);
}

Outcome describe_signal(const OutcomeFacts& facts, int signal) {
  const std::string name = signal_name(signal);
  const int status = kSignalBase + signal;
  if (facts.cpu_limited && is_cpu_limit_signal(signal)) {
    return ended(OutcomeClass::kLimit, "cpu_s: the CPU time ran out (" + name + ")", status);
  }
  if (facts.file_limited && is_file_limit_signal(signal)) {
    return ended(OutcomeClass::kLimit, "fsize_bytes: a file grew too large (" + name + ")", status);
  }
  return ended(OutcomeClass::kSignalled, "killed by " + name, status);
}

// What programs that were refused a fork like to end with. Many others do too, and no kernel tells
// of a refusal by the budget: so this is never more than a hint.
constexpr int kForkFailure = 128;

// "exit 3". Where the kernel did not say how the command ended, the jail's supervisor turned a
// signal into a status, and `kill -9` and `exit 137` look the same.
std::string exit_words(const OutcomeFacts& facts) {
  std::string words = "exit " + std::to_string(facts.code);
  const int signal = facts.code - kSignalBase;
  const bool ambiguous = facts.had_stage2 && !facts.command_signal;
  if (ambiguous && signal > 0 && signal <= kHighestSignal) {
    const std::string name = signal_name(signal);
    words += ", or signal " + std::to_string(signal);
    if (name.rfind("SIG", 0) == 0) words += " (" + name + ")";
  }
  if (facts.fork_braked && facts.code == kForkFailure) {
    words += "; it may have met the process budget";
  }
  return words;
}

// 0: it exited, or nobody knows better.
int fatal_signal(const OutcomeFacts& facts) {
  return facts.command_signal ? *facts.command_signal : facts.signal;
}

Outcome describe_stop(const OutcomeFacts& facts) {
  const int signal = fatal_signal(facts);
  const std::string how = signal > 0 ? "killed by " + signal_name(signal) : exit_words(facts);
  const int status = signal > 0 ? kSignalBase + signal : facts.code;
  if (facts.timed_out) {
    return ended(OutcomeClass::kTimeout, "wall_s: the time ran out; " + how, status);
  }
  return ended(OutcomeClass::kCancelled, "stopped on request; " + how, status);
}

// The order is the order in which things can have happened: what kept the command from running
// comes before how it was stopped, and that before how it ended.
Outcome describe(const OutcomeFacts& facts) {
  if (!facts.refused_demand.empty()) {
    return ended(OutcomeClass::kSetup,
                 "the command was not run: not held, but demanded: " + facts.refused_demand,
                 kNoJail);
  }
  if (facts.failure && facts.failure->kind == ControlKind::kFailed) {
    return describe_failure(*facts.failure);
  }
  if (facts.host_exec_error) return describe_host_exec(facts);
  if (facts.lost_end) {
    return ended(OutcomeClass::kSetup, "how the command ended could not be learned", kNoJail);
  }
  if (facts.timed_out || facts.cancelled) return describe_stop(facts);
  if (!facts.refused_commit.empty()) {
    return ended(OutcomeClass::kSetup, "the command was not run: " + facts.refused_commit, kNoJail);
  }
  if (facts.had_stage2 && !facts.committed) {
    return ended(OutcomeClass::kSetup,
                 "the jail was not set up; its launcher ended with " + std::to_string(facts.code),
                 kNoJail);
  }
  if (facts.had_stage2 && !facts.running) {
    return ended(OutcomeClass::kSetup, "stage 2 ended before the command ran", kRefused);
  }
  const int signal = fatal_signal(facts);
  if (signal > 0) return describe_signal(facts, signal);
  return ended(OutcomeClass::kExited, exit_words(facts), facts.code);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// Which ceilings the run met; empty when none.
std::string met_ceilings(const CeilingUse& use) {
  std::string text;
  if (use.out_of_memory_kills.value_or(0) > 0) {
    text = "mem_bytes: out of memory, " +
           counted(*use.out_of_memory_kills, "process killed", "processes killed");
  }
  if (use.denied_forks.value_or(0) > 0) {
    text += (text.empty() ? "pids: " : "; pids: ") +
            counted(*use.denied_forks, "fork refused", "forks refused");
  }
  return text;
}

// A run that met a ceiling and did not succeed ended at it, as far as anybody outside can tell.
// Everything else keeps its class and says what was met.
void add_use(Outcome& outcome, const CeilingUse& use) {
  const std::string met = met_ceilings(use);
  const bool own_end =
      outcome.outcome == OutcomeClass::kExited || outcome.outcome == OutcomeClass::kSignalled;
  if (!met.empty() && own_end && outcome.shell_status != 0) {
    outcome.outcome = OutcomeClass::kLimit;
    outcome.detail = met + "; " + outcome.detail;
  } else if (!met.empty()) {
    outcome.detail += " (" + met + ")";
  }
  if (use.peak_memory_bytes) {
    outcome.detail += "; peak memory " + binary_size(*use.peak_memory_bytes);
  }
}

}  // namespace

std::string_view outcome_class_name(OutcomeClass outcome) noexcept {
  switch (outcome) {
    case OutcomeClass::kExited:
      return "exited";
    case OutcomeClass::kSignalled:
      return "signalled";
    case OutcomeClass::kSetup:
      return "setup";
    case OutcomeClass::kExec:
      return "exec";
    case OutcomeClass::kLimit:
      return "limit";
    case OutcomeClass::kTimeout:
      return "timeout";
    case OutcomeClass::kCancelled:
      return "cancelled";
  }
  return "setup";
}

bool is_fork_braked(std::string_view os, const std::optional<InnerReport>& report) {
  return os == "darwin" && report &&
         std::any_of(report->applied.begin(), report->applied.end(), [](const std::string& entry) {
           return entry_tag(entry) == "rlimit-processes";
         });
}

Outcome describe_outcome(const OutcomeFacts& facts) {
  Outcome outcome = describe(facts);
  if (facts.use) add_use(outcome, *facts.use);
  outcome.detail = one_line(outcome.detail);
  outcome.first_cause = one_line(facts.first_cause);
  return outcome;
}

}  // namespace loom
