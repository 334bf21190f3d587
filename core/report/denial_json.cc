#include <loom/utf8.h>

#include <nlohmann/json.hpp>

#include "report/denial_value.h"

namespace loom {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(std::string_view text) {
  return Utf8::sanitise(text.substr(0, kMaxDenialText)).str();
}

Json optional_text(const std::optional<std::string>& text) {
  return text ? Json(text_of(*text)) : Json();
}

Json optional_path(const std::optional<std::string>& path) {
  return path ? Json(json_path(*path)) : Json();
}

Json needed_value(const std::optional<NeededBy>& needed_by) {
  if (!needed_by) return {};
  Json json;
  json["program"] = json_path(needed_by->program);
  json["file"] = json_path(needed_by->file);
  json["role"] = text_of(needed_by->role);
  return json;
}

}  // namespace

std::string json_path(std::string_view path) {
  const std::string_view shown = path.substr(0, kMaxDenialText);
  return is_utf8(shown) ? std::string(shown) : escaped(shown, 4 * kMaxDenialText);
}

nlohmann::ordered_json rule_value(const std::optional<DenialRule>& rule) {
  if (!rule) return {};
  Json json;
  json["dimension"] = text_of(rule->dimension);
  json["layer"] = rule->layer;
  json["list"] = text_of(rule->list);
  json["index"] = rule->index;
  json["written"] = json_path(rule->written);
  json["real"] = optional_path(rule->real);
  json["kind"] = text_of(rule->kind);
  json["match"] = text_of(rule->match);
  return json;
}

nlohmann::ordered_json denial_value(const Denial& denial) {
  Json json;
  json["v"] = kDenialVersion;
  json["source"] = text_of(denial.source);
  json["op"] = text_of(denial.op);
  json["asked"] = json_path(denial.asked);
  json["real"] = optional_path(denial.real);
  json["reason"] = text_of(denial.reason);
  json["evidence"] = optional_text(denial.evidence);
  json["rule"] = rule_value(denial.rule);
  json["overridden"] = rule_value(denial.overridden);
  json["others"] = denial.others;
  json["needed_by"] = needed_value(denial.needed_by);
  json["stopped_at"] = denial.stopped_at ? Json(*denial.stopped_at) : Json();
  json["errno"] = denial.error ? Json(*denial.error) : Json();
  json["limit"] = optional_text(denial.limit);
  json["hint"] = optional_text(denial.hint);
  json["text"] = text_of(denial.text);
  return json;
}

std::string denial_json(const Denial& denial) { return denial_value(denial).dump(); }

}  // namespace loom
