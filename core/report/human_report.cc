#include "report/human_report.h"

#include <loom/utf8.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "report/entry_text.h"

namespace loom {
namespace {

constexpr std::string_view kLineStart = "loom-exec: ";

// What an applied entry means to a person, and the layer whose line it stands on. '%' stands for
// the entry's own detail.
struct Wording {
  std::string_view tag;
  std::string_view layer;
  std::string_view words;
};
constexpr std::array<Wording, 27> kWordings = {{
    {"bwrap", "jail", "own namespaces and file tree (bubblewrap)"},
    {"seatbelt", "jail", "Seatbelt profile"},
    {"mounts-by", "view", "mounted by %"},
    {"pins", "view", "% directories above protected paths pinned"},
    {"mask-links", "view", "% masked files have further hard links"},
    {"launcher-pins", "jail", "pinned launcher"},
    {"seatbelt-net", "network", "direct network refused"},
    {"seccomp-net", "network", "direct network refused"},
    {"landlock", "files", "Landlock rules (ABI %)"},
    {"scopes", "files", "scoped: %"},
    {"exec-landlock", "programs", "only what the policy allows"},
    {"exec-dropped", "programs", "% allowances without an object"},
    {"exec-dead", "programs", "% allowances that a denial overrules"},
    {"exec-writable", "programs", "% of the allowed directories can be written"},
    {"exec-links", "programs", "% denied files have further hard links"},
    {"scrubbed", "programs", "variables removed: %"},
    {"no-new-privs", "privileges", "no gain through setuid files"},
    {"caps", "privileges", "capabilities: %"},
    {"seccomp-deny", "system calls", "dangerous calls refused"},
    {"unix-sockets", "system calls", "unix sockets %"},
    {"cgroup-v2", "ceilings", "control group for memory and processes"},
    {"rlimit-fsize", "limits", "file size"},
    {"rlimit-cpu", "limits", "CPU time"},
    {"rlimit-address-space", "limits", "address space"},
    {"rlimit-processes", "limits", "processes"},
    {"mounts", "view", "%"},
    {"seatbelt-fs", "view", "%"},
}};

// The detail of an entry: what follows "name:" or "name=", and for "landlock:abi=7" the 7.
std::string_view entry_detail(std::string_view entry) {
  const std::size_t end = entry_tag(entry).size();
  std::string_view detail = entry.substr(std::min(end + 1, entry.size()));
  if (detail.rfind("abi=", 0) == 0) detail.remove_prefix(4);
  return detail;
}

// The words for one count of a mounts report, or nothing for a count of zero and for what is no
// count.
std::string count_words(std::string_view key, std::string_view value) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kCounts = {{
      {"ro", "readable"},
      {"rw", "writable"},
      {"mask", "masked"},
      {"bind_ro", "mounted read-only"},
      {"bind_rw", "mounted read-write"},
  }};
  for (const auto& [name, words] : kCounts) {
    if (name == key && value != "0") return std::string(value) + " " + std::string(words);
  }
  if (key == "scratch") return std::string(value) + " scratch";
  if (key == "base")
    return value == "minimal" ? "nothing else but the system" : "whole host readable";
  return {};
}

// "ro=1,rw=2,…" as "1 readable, 2 writable, …".
std::string view_words(std::string_view report) {
  std::string text;
  while (!report.empty()) {
    const std::size_t comma = std::min(report.find(','), report.size());
    const std::string_view field = report.substr(0, comma);
    report.remove_prefix(std::min(comma + 1, report.size()));
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string words =
        count_words(field.substr(0, equals), field.substr(std::min(equals + 1, field.size())));
    if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
  }
  return text;
}

std::string fill_in(const Wording& wording, std::string_view entry) {
  std::string detail(entry_detail(entry));
  if (wording.tag == "mounts" || wording.tag == "seatbelt-fs") detail = view_words(detail);
  std::string words(wording.words);
  const std::size_t place = words.find('%');
  return place == std::string::npos ? words : words.replace(place, 1, detail);
}

// Layers in the order in which they first appear, with what was said of each.
class LayerLines {
 public:
  // `entry` is what the report itself says; it stands behind the words.
  void add(std::string_view layer, const std::string& words, const std::string& entry) {
    const auto found = std::find_if(lines_.begin(), lines_.end(),
                                    [&](const Line& line) { return line.layer == layer; });
    if (found == lines_.end()) {
      lines_.push_back({.layer = std::string(layer), .words = words, .entries = entry});
    } else {
      found->words += ", " + words;
      found->entries += " " + entry;
    }
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Line& each : lines_) {
      texts.push_back(each.layer + ": " + each.words + " [" + each.entries + "]");
    }
    return texts;
  }

 private:
  struct Line {
    std::string layer;
    std::string words;
    std::string entries;
  };
  std::vector<Line> lines_;
};

void add_applied(LayerLines& layers, const std::string& entry) {
  for (const Wording& wording : kWordings) {
    if (wording.tag == entry_tag(entry)) {
      layers.add(wording.layer, fill_in(wording, entry), entry);
      return;
    }
  }
  layers.add("also", "further", entry);
}

std::string line(std::string_view text) {
  return std::string(kLineStart).append(one_line(text)).append("\n");
}

// What a person loses by a gap that has a name; a reason, if there is one, stands in the entry.
std::string unheld_words(std::string_view gap_and_reason) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kGaps = {{
      {"unix-path", "unix sockets that the view shows can be connected to"},
      {"exec-landlock", "the kernel does not confine which programs run"},
      {"seccomp-deny", "dangerous system calls are not refused"},
      {"socket-families", "unusual kinds of sockets can be made"},
      {"refer", "files cannot be moved between directories on this kernel"},
      {"truncate", "files anywhere can be emptied on this kernel"},
      {"signal-scope", "the kernel does not confine signals"},
      {"pid-namespace", "the jail shows which processes the machine runs"},
      {"cgroup-namespace", "the jail shows the names of the machine's control groups"},
      {"private-ptys", "the pseudo-terminals of the machine's own programs can be opened"},
      {"disable-userns", "only the filter keeps the command from making user namespaces"},
      {"closed-masks", "hidden directories can be listed, and are empty"},
      {"no-core", "a core dump may reach a handler"},
      {"mount-points", "a process outside could make empty files appear while the jail is set up"},
      {"launcher-owner", "this bubblewrap can be rewritten by you"},
  }};
  const std::string_view gap = gap_and_reason.substr(0, gap_and_reason.find('='));
  for (const auto& [name, words] : kGaps) {
    if (name == gap) return std::string(words);
  }
  return std::string(gap_and_reason);
}

std::string layer_lines(const std::vector<std::string>& entries) {
  static constexpr std::string_view kUnheld = "unheld:";
  LayerLines held;
  std::string unheld;
  for (const std::string& entry : entries) {
    if (is_skip(entry)) {
      unheld += line("NOT held: " + entry.substr(kSkipPrefix.size()));
    } else if (entry.rfind(kUnheld, 0) == 0) {
      unheld += line("not held: " + unheld_words(std::string_view(entry).substr(kUnheld.size())) +
                     " [" + entry + "]");
    } else {
      add_applied(held, entry);
    }
  }
  std::string text;
  for (const std::string& each : held.texts()) text += line("held: " + each);
  if (text.empty()) text = line("held: nothing");
  return text + unheld;
}

std::string seconds(std::chrono::milliseconds wall) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(wall.count()) / 1000.0);
  return text.data();
}

std::string cut_line(std::string_view stream, std::uint64_t bytes) {
  return line(std::string(stream) + ": cut after " + std::to_string(bytes) +
              " bytes (output_bytes)");
}

std::string rule_words(const DenialRule& rule) {
  std::string text = rule.list + "[" + std::to_string(rule.index) + "] of the " +
                     (rule.layer == 0 ? "base" : "command's own") + " policy: " + rule.kind + " " +
                     escaped(rule.written);
  if (rule.real && *rule.real != rule.written) text += ", which is " + escaped(*rule.real);
  if (rule.match == "folded") text += ", under another spelling";
  if (rule.match == "object") text += ", the same directory under another name";
  return text;
}

std::string others_words(std::uint64_t others) {
  return others == 0 ? "" : " (and " + std::to_string(others) + " more)";
}

}  // namespace

std::string render_human_denial(const Denial& denial) {
  std::string text = line(denial.text);
  if (denial.real && *denial.real != denial.asked) text += line("path: " + escaped(*denial.real));
  if (denial.rule) {
    text += line("refused by: " + rule_words(*denial.rule) + others_words(denial.others));
  }
  if (denial.overridden) text += line("in spite of: " + rule_words(*denial.overridden));
  if (denial.needed_by) {
    text += line("needed: " + escaped(denial.needed_by->file) + ", the " + denial.needed_by->role +
                 " of " + escaped(denial.needed_by->program));
  }
  if (denial.hint) text += line("what may help: " + *denial.hint);
  return text;
}

std::string render_human_report(const ExecResult& result) {
  std::string text = layer_lines(result.enforcement);
  if (result.degraded)
    text += line("NOT held: this machine cannot build the platform's outer jail");
  if (result.stdout_truncated) text += cut_line("stdout", result.stdout_bytes);
  if (result.stderr_truncated) text += cut_line("stderr", result.stderr_bytes);
  const Outcome& outcome = result.outcome;
  if (!outcome.first_cause.empty()) text += line("first cause: " + outcome.first_cause);
  return text + line(std::string(outcome_class_name(outcome.outcome)) + ": " + outcome.detail +
                     ", after " + seconds(result.wall));
}

}  // namespace loom
