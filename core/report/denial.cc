#include "report/denial.h"

#include <loom/utf8.h>
#include <loom/value.h>

#include <array>

namespace loom {
namespace {

// What may be done about a launch's refusal, by its reason.
struct LaunchReason {
  std::string_view name;
  std::string_view hint;
};
constexpr std::array<LaunchReason, 6> kLaunchReasons = {{
    {"redirected", "start it again: a name that the policy allows led elsewhere by then"},
    {"raced", "start it again: a name changed while the run was planned"},
    {"pin_changed", "restart the helper: a program that it runs was replaced"},
    // Which demand of the policy it is, the message says; no setting takes all of them back.
    {"confinement_unavailable", ""},
    {"exec_table_too_large", "deny less beneath large directories, or allow smaller ones"},
    {"already_profiled", "start the helper outside of any sandbox profile"},
}};

std::string_view cut(std::string_view text) { return text.substr(0, kMaxDenialText); }

void write_text(ValueWriter& out, std::string_view key, std::string_view text) {
  out.text(key);
  out.text(Utf8::sanitise(cut(text)).str());
}

void write_text_or_nil(ValueWriter& out, std::string_view key,
                       const std::optional<std::string>& text) {
  if (text) return write_text(out, key, *text);
  out.text(key);
  out.nil();
}

void write_path(ValueWriter& out, std::string_view key, std::string_view path) {
  out.text(key);
  out.binary(as_bytes(cut(path)));
}

void write_path_or_nil(ValueWriter& out, std::string_view key,
                       const std::optional<std::string>& path) {
  if (path) return write_path(out, key, *path);
  out.text(key);
  out.nil();
}

void write_number(ValueWriter& out, std::string_view key, std::uint64_t number) {
  out.text(key);
  out.number(number);
}

void write_rule(ValueWriter& out, std::string_view key, const std::optional<DenialRule>& rule) {
  out.text(key);
  if (!rule) return out.nil();
  out.map(8);
  write_text(out, "dimension", rule->dimension);
  write_number(out, "layer", rule->layer);
  write_text(out, "list", rule->list);
  write_number(out, "index", rule->index);
  write_text(out, "written", rule->written);
  write_path_or_nil(out, "real", rule->real);
  write_text(out, "kind", rule->kind);
  write_text(out, "match", rule->match);
}

void write_needed(ValueWriter& out, const std::optional<NeededBy>& needed_by) {
  out.text("needed_by");
  if (!needed_by) return out.nil();
  out.map(3);
  write_path(out, "program", needed_by->program);
  write_path(out, "file", needed_by->file);
  write_text(out, "role", needed_by->role);
}

}  // namespace

std::optional<Denial> launch_denial(const Error& error, std::string_view program) {
  const std::string_view message = error.message;
  for (const LaunchReason& reason : kLaunchReasons) {
    const bool is_this =
        message.starts_with(reason.name) && message.substr(reason.name.size()).starts_with(": ");
    if (!is_this) continue;
    Denial denial{
        .source = "launch",
        .op = "launch",
        .asked = std::string(program),
        .reason = std::string(reason.name),
        .hint = reason.hint.empty() ? std::nullopt : std::optional(std::string(reason.hint)),
        .text = Utf8::sanitise(message).str()};
    if (error.sys_errno != 0) denial.error = error.sys_errno;
    return denial;
  }
  return std::nullopt;
}

void write_denial(ValueWriter& out, const Denial& denial) {
  out.map(16);
  write_number(out, "v", kDenialVersion);
  write_text(out, "source", denial.source);
  write_text(out, "op", denial.op);
  write_path(out, "asked", denial.asked);
  write_path_or_nil(out, "real", denial.real);
  write_text(out, "reason", denial.reason);
  write_text_or_nil(out, "evidence", denial.evidence);
  write_rule(out, "rule", denial.rule);
  write_rule(out, "overridden", denial.overridden);
  write_number(out, "others", denial.others);
  write_needed(out, denial.needed_by);
  out.text("stopped_at");
  denial.stopped_at ? out.number(*denial.stopped_at) : out.nil();
  out.text("errno");
  denial.error ? out.signed_number(*denial.error) : out.nil();
  write_text_or_nil(out, "limit", denial.limit);
  write_text_or_nil(out, "hint", denial.hint);
  write_text(out, "text", denial.text);
}

}  // namespace loom
