#include "app/self_test/file_verdicts.h"

namespace loom::app {
namespace {

std::string with_output(const std::string& detail, const ProbeRun& run) {
  return detail + "; stdout " + quote_output(run.out) + ", stderr " + quote_output(run.err);
}

bool shows(const ProbeRun& run, std::string_view secret) {
  return holds(run.out, secret) || holds(run.err, secret);
}

}  // namespace

ProbeVerdict judge_outside_write(const WriteEvidence& seen) {
  if (has_line(seen.run.out, kWrote)) return failed("the payload wrote outside its writable root");
  if (seen.victim_exists) return failed("a file outside the writable root appeared on the host");
  if (!has_line(seen.run.out, kAllowedOk)) {
    return failed(with_output("the payload could not write inside its writable root", seen.run));
  }
  if (!seen.allowed_arrived) return failed("the allowed write did not reach the host");
  return enforced();
}

ProbeVerdict judge_masks(const MaskEvidence& seen) {
  if (seen.file_changed) return failed(with_output("the protected file was changed", seen.run));
  if (seen.inner_changed) {
    return failed(with_output("a file of the protected directory was changed", seen.run));
  }
  if (shows(seen.run, seen.file_marker)) return failed("the protected file was read");
  if (shows(seen.run, seen.inner_marker)) return failed("the protected directory's file was read");
  if (holds(seen.run.out, seen.inner_name)) return failed("the protected directory was listed");
  if (!has_line(seen.run.out, kAllowedOk) || !holds(seen.run.out, seen.open_marker)) {
    return failed(with_output("the payload could not write and read beside the masks", seen.run));
  }
  return enforced();
}

ProbeVerdict judge_reveal(const RevealEvidence& seen) {
  for (const std::string& secret : seen.secrets) {
    if (!shows(seen.control, secret)) {
      return failed(
          with_output("the control could not read what it was granted, so a refusal proves nothing",
                      seen.control));
    }
  }
  for (const std::string& secret : seen.secrets) {
    if (shows(seen.test, secret)) return failed("the payload read " + quote_output(secret));
  }
  if (!has_line(seen.test.out, kAllowedOk)) {
    return failed(with_output("the payload could not do what it was allowed", seen.test));
  }
  for (const std::string& open : seen.open) {
    if (!shows(seen.test, open)) {
      return failed(with_output("the payload could not read what is not protected", seen.test));
    }
  }
  return enforced();
}

}  // namespace loom::app
