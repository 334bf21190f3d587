#include "judgement.h"

#include <loom/utf8.h>
#include <unistd.h>

#include <algorithm>

namespace loom::conformance {
namespace {

// A backend that does one thing wrong does it for every policy.
constexpr int kMaxFindings = 12;
constexpr std::size_t kMaxTextBytes = 1'500;

bool has(const Verdict& verdict, Blame blame) noexcept {
  return std::any_of(verdict.findings.begin(), verdict.findings.end(),
                     [blame](const Finding& finding) { return finding.blame == blame; });
}

void take(Record& record, char kind, std::string text) {
  switch (kind) {
    case 'C':
      record.verdict.findings.push_back({.blame = Blame::kContract, .text = std::move(text)});
      return;
    case 'K':
      record.verdict.findings.push_back({.blame = Blame::kClaim, .text = std::move(text)});
      return;
    case 'U':
      record.verdict.findings.push_back({.blame = Blame::kUnjudged, .text = std::move(text)});
      return;
    case 'R':
      record.verdict.remarks.push_back(std::move(text));
      return;
    case 'D':
      record.done = true;
      return;
    default:
      record.in_backend = kind == 'B';
      record.step = std::move(text);
  }
}

}  // namespace

std::string_view blame_name(Blame blame) noexcept {
  switch (blame) {
    case Blame::kContract:
      return "contract";
    case Blame::kClaim:
      return "claim";
    case Blame::kUnjudged:
      return "unjudged";
  }
  return "unjudged";
}

Blame Verdict::blame() const noexcept {
  if (has(*this, Blame::kContract)) return Blame::kContract;
  return has(*this, Blame::kClaim) ? Blame::kClaim : Blame::kUnjudged;
}

void Judgement::add(char kind, std::string_view text) {
  if (kind != 'R' && ++findings_ > kMaxFindings) return;
  line(kind, text);
  if (findings_ == kMaxFindings && kind != 'R') line('R', "further findings are left out");
}

void Judgement::line(char kind, std::string_view text) const {
  std::string out(1, kind);
  out += printable(text, kMaxTextBytes);
  std::replace(out.begin(), out.end(), '\n', ' ');
  out += '\n';
  if (::write(record_, out.data(), out.size()) < 0) ::_exit(70);
}

Record parse_record(std::string_view text) {
  Record record;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) take(record, text.front(), std::string(text.substr(1, end - 1)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return record;
}

}  // namespace loom::conformance
