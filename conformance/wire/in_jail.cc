#include "in_jail.h"

#include <filesystem>

namespace loom::conformance {

JailRun seen_by(const Run& run) {
  JailRun seen;
  seen.reported = run.exit.has_value();
  seen.out = run.out;
  seen.err = run.err;
  seen.entries = run.entries();
  seen.code = static_cast<int>(run.code());
  return seen;
}

Result<std::string> bring_probe(const Session& session) {
  std::string probe = session.place->at("work/probe");
  std::error_code error;
  std::filesystem::copy_file(session.subject.probe, probe, error);
  if (error) return fail(ErrorCode::kSystem, "copy the probe: " + error.message());
  return probe;
}

Json probe_start(const std::string& probe, const std::vector<std::string>& operations) {
  std::vector<std::string> argv = {probe};
  argv.insert(argv.end(), operations.begin(), operations.end());
  return start_of(argv);
}

void deny(const Session& session, const Run& run, bool held, const Denial& denial) {
  judge_denial(seen_by(run), held, denial, session.judgement);
}

}  // namespace loom::conformance
