#include "host/control_group_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace loom::host {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Takes what stands before `separator`, and the separator, off the front of `text`.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const auto end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool lists_word(std::string_view list, std::string_view word) noexcept {
  while (!(list = trimmed(list)).empty()) {
    std::string_view one = list.substr(0, list.find_first_of(kSpace));
    list.remove_prefix(one.size());
    if (one.starts_with('+')) one.remove_prefix(1);
    if (one == word) return true;
  }
  return false;
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> own_control_group(std::string_view proc_cgroup) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = take_until(proc_cgroup, '\n');
    if (!line.starts_with("0::/")) continue;
    return std::string(line == "0::/" ? "" : line.substr(3));
  }
  return std::nullopt;
}

std::vector<std::string> missing_controllers(std::string_view list) {
  std::vector<std::string> missing;
  for (const char* const needed : {"memory", "pids"}) {
    if (!lists_word(list, needed)) missing.emplace_back(needed);
  }
  return missing;
}

std::string common_ancestor(std::string_view a, std::string_view b) {
  std::string ancestor;
  while (a.starts_with('/') && b.starts_with('/')) {
    a.remove_prefix(1);
    b.remove_prefix(1);
    const std::string_view component = a.substr(0, a.find('/'));
    if (component.empty() || component != b.substr(0, b.find('/'))) break;
    ancestor.append("/").append(component);
    a.remove_prefix(component.size());
    b.remove_prefix(component.size());
  }
  return ancestor.empty() ? "/" : ancestor;
}

std::optional<pid_t> process_of_group_name(std::string_view name) {
  if (take_until(name, '-') != "exec") return std::nullopt;
  const std::string_view id = take_until(name, '-');
  if (!all_digits(id) || !all_digits(name)) return std::nullopt;
  const auto process = parse_number<pid_t>(name);
  return process && *process > 0 ? process : std::nullopt;
}

std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') == key) return parse_number<std::uint64_t>(line);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> single_number(std::string_view text) {
  return parse_number<std::uint64_t>(trimmed(text));
}

std::size_t count_processes(std::string_view procs) {
  std::size_t count = 0;
  while (!procs.empty()) {
    if (!trimmed(take_until(procs, '\n')).empty()) ++count;
  }
  return count;
}

bool lists_process(std::string_view procs, pid_t process) {
  return lists_word(procs, std::to_string(process));
}

std::optional<std::uint64_t> kills_at_own_ceiling(std::string_view memory_events) {
  const auto kills = keyed_number(memory_events, "oom_kill");
  const auto met = keyed_number(memory_events, "oom");
  return kills && met && *met == 0 ? 0 : kills;
}

std::vector<ControlFileText> ceiling_texts(const Ceilings& ceilings) {
  constexpr std::uint64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  const auto text = [](std::uint64_t ceiling, std::uint64_t most) {
    return ceiling > most ? std::string("max") : std::to_string(ceiling);
  };
  std::vector<ControlFileText> texts;
  if (ceilings.memory_bytes) {
    texts.push_back({.file = "memory.max", .text = text(*ceilings.memory_bytes, most_bytes)});
    texts.push_back({.file = "memory.swap.max", .text = "0", .required = false});
  }
  if (ceilings.pids) {
    texts.push_back({.file = "pids.max", .text = text(*ceilings.pids, kMostProcesses)});
  }
  return texts;
}

}  // namespace loom::host
