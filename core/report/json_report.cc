#include <loom/utf8.h>

#include <nlohmann/json.hpp>

#include "report/denial_value.h"
#include "report/human_report.h"

namespace loom {
namespace {

using Json = nlohmann::ordered_json;

// The library refuses invalid UTF-8 by throwing, so nothing invalid gets there.
std::string utf8(std::string_view text) { return Utf8::sanitise(text).str(); }

Json outcome_json(const Outcome& outcome) {
  Json json;
  json["class"] = outcome_class_name(outcome.outcome);
  json["detail"] = utf8(outcome.detail);
  json["first_cause"] = utf8(outcome.first_cause);
  return json;
}

// A number that the kernel did not tell is absent.
Json use_json(const CeilingUse& use) {
  Json json = Json::object();
  if (use.peak_memory_bytes) json["peak_memory_bytes"] = *use.peak_memory_bytes;
  if (use.out_of_memory_kills) json["out_of_memory_kills"] = *use.out_of_memory_kills;
  if (use.denied_forks) json["denied_forks"] = *use.denied_forks;
  return json;
}

}  // namespace

std::string render_json_report(const ExecResult& result, const Denial* denial) {
  Json json;
  json["code"] = result.code;
  json["signal"] = result.signal;
  json["stdout_bytes"] = result.stdout_bytes;
  json["stderr_bytes"] = result.stderr_bytes;
  json["stdout_truncated"] = result.stdout_truncated;
  json["stderr_truncated"] = result.stderr_truncated;
  json["enforcement"] = Json::array();
  for (const std::string& entry : result.enforcement) json["enforcement"].push_back(utf8(entry));
  json["degraded"] = result.degraded;
  json["wall_ms"] = result.wall.count();
  json["timed_out"] = result.timed_out;
  json["cancelled"] = result.cancelled;
  json["outcome"] = outcome_json(result.outcome);
  if (result.use) json["use"] = use_json(*result.use);
  if (denial != nullptr) json["denial"] = denial_value(*denial);
  return json.dump() + "\n";
}

}  // namespace loom
