#include "app/self_test/adversary.h"

#include <array>

namespace loom::app {
namespace {

struct StepWords {
  Attempt AdversaryRecord::*attempt;
  std::string_view success;
  std::string_view refusal;
  Attempt worse;  // which of two contradicting lines counts
};

constexpr std::array<StepWords, 5> kSteps = {{
    {&AdversaryRecord::control_read, "control-read-ok", "control-read-BROKEN:", Attempt::kRefused},
    {&AdversaryRecord::control_write, "control-write-ok",
     "control-write-BROKEN:", Attempt::kRefused},
    {&AdversaryRecord::secret_read,
     "secret-read-SUCCEEDED:", "secret-read-denied:", Attempt::kSucceeded},
    {&AdversaryRecord::outside_write, "outside-write-SUCCEEDED",
     "outside-write-denied:", Attempt::kSucceeded},
    {&AdversaryRecord::network, "net-CONNECTED", "net-denied:", Attempt::kSucceeded},
}};

// A word that ends in a colon goes on with a reason or bytes; any other is the whole line.
bool matches(std::string_view line, std::string_view word) {
  return word.ends_with(':') ? line.starts_with(word) : line == word;
}

void take_line(AdversaryRecord& record, std::string_view line) {
  if (line == "hostile-loaded") record.loaded = true;
  if (line == "hostile-done") record.done = true;
  for (const StepWords& step : kSteps) {
    Attempt& attempt = record.*step.attempt;
    if (attempt == step.worse) continue;
    if (matches(line, step.success)) attempt = Attempt::kSucceeded;
    if (matches(line, step.refusal)) attempt = Attempt::kRefused;
  }
}

std::string summary(const AdversaryRun& run) { return quote_output(run.output); }

// By its own lines and by what its host saw.
bool reached_everything(const AdversaryRun& run) {
  return run.record.reaches_everything() && run.victim_exists && run.secret_shown && run.connected;
}

}  // namespace

AdversaryRecord parse_adversary(std::string_view output) {
  AdversaryRecord record;
  for (std::string_view line : lines_of(output)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    take_line(record, line);
  }
  return record;
}

ProbeVerdict judge_unjailed(const AdversaryRun& control) {
  if (!control.record.loaded) {
    return skipped("the adversary does not load without a jail: " + summary(control));
  }
  if (!reached_everything(control)) {
    return skipped("the escapes do not succeed without a jail, so a denial is no evidence: " +
                   summary(control));
  }
  return enforced();
}

ProbeVerdict judge_permissive(const AdversaryRun& permissive) {
  const AdversaryRecord& record = permissive.record;
  if (record.loaded && record.done && reached_everything(permissive)) return enforced();
  return failed("in a jail that grants the three escapes they do not succeed, so a denial proves " +
                std::string("nothing: ") + summary(permissive));
}

ProbeVerdict judge_confined(const AdversaryRun& confined) {
  const AdversaryRecord& record = confined.record;
  if (!record.loaded) return failed("the adversary did not load: " + summary(confined));
  if (!record.does_what_is_allowed()) {
    return failed("an allowed effect failed: " + summary(confined));
  }
  if (record.secret_read == Attempt::kSucceeded || confined.secret_shown) {
    return failed("the secret came out: " + summary(confined));
  }
  if (record.outside_write == Attempt::kSucceeded) {
    return failed("the write outside succeeded: " + summary(confined));
  }
  if (record.network == Attempt::kSucceeded || confined.connected) {
    return failed("the connection succeeded: " + summary(confined));
  }
  if (!record.done) {
    return failed("not done, so later attempts may never have been made: " + summary(confined));
  }
  if (confined.victim_exists) return failed("the victim exists on the host");
  if (confined.secret_changed) return failed("the secret's bytes changed on the host");
  if (!record.reaches_nothing()) {
    return failed("an attempt was never made: " + summary(confined));
  }
  return enforced();
}

ProbeVerdict judge_adversary(const AdversaryEvidence& seen) {
  for (ProbeVerdict verdict : {judge_unjailed(seen.unjailed), judge_permissive(seen.permissive),
                               judge_confined(seen.confined)}) {
    if (verdict.verdict != Verdict::kEnforced) return verdict;
  }
  return enforced();
}

}  // namespace loom::app
