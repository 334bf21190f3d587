#include <cstdio>
#include <nlohmann/json.hpp>

#include "results.h"

namespace loom::conformance {
namespace {

std::string verdict_word(const Verdict& verdict) {
  return verdict.passed() ? "ok" : std::string(blame_name(verdict.blame()));
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string findings_text(const Verdict& verdict) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    text += "[" + std::string(blame_name(finding.blame)) + "] " + finding.text + "\n";
  }
  return text;
}

std::string theme_of(std::string_view id) { return std::string(id.substr(0, id.find('.'))); }

void add_case(const CheckResult& result, std::string& out) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", static_cast<double>(result.took.count()) / 1000);
  out += "    <testcase classname=\"loom-conformance." + theme_of(result.check->id) + "\" name=\"" +
         std::string(result.check->id) + "\" time=\"" + seconds + "\">\n";
  const Verdict& verdict = result.verdict;
  if (!verdict.passed()) {
    // JUnit's own words: a failure is the subject's, an error the harness's.
    const bool error = verdict.blame() == Blame::kUnjudged;
    const char* const element = error ? "error" : "failure";
    out += std::string("      <") + element + " type=\"" +
           std::string(blame_name(verdict.blame())) + "\" message=\"" +
           xml(result.check->contract) + "\">" + xml(findings_text(verdict)) + "</" + element +
           ">\n";
  }
  std::string remarks;
  for (const std::string& remark : verdict.remarks) remarks += remark + "\n";
  if (!remarks.empty()) out += "      <system-out>" + xml(remarks) + "</system-out>\n";
  out += "    </testcase>\n";
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.replace(at, 1, "\\|");
  }
  return text;
}

}  // namespace

std::string render_text(const CheckResult& result) {
  char line[128];
  std::snprintf(line, sizeof line, "  %-10s%s\n", verdict_word(result.verdict).c_str(),
                std::string(result.check->id).c_str());
  std::string text = line;
  const std::string margin(12, ' ');
  if (!result.verdict.passed()) text += margin + std::string(result.check->contract) + "\n";
  for (const Finding& finding : result.verdict.findings) {
    text += margin + "[" + std::string(blame_name(finding.blame)) + "] " + finding.text + "\n";
  }
  for (const std::string& remark : result.verdict.remarks) text += margin + "(" + remark + ")\n";
  return text;
}

std::string render_junit(const Results& results) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  out += "  <testsuite name=\"loom-conformance " + xml(results.about_value("name")) +
         "\" tests=\"" + std::to_string(results.checks.size()) + "\" failures=\"" +
         std::to_string(results.blamed(Blame::kContract) + results.blamed(Blame::kClaim)) +
         "\" errors=\"" + std::to_string(results.blamed(Blame::kUnjudged)) +
         "\">\n    <properties>\n";
  for (const auto& [name, value] : results.about) {
    out += "      <property name=\"" + xml(name) + "\" value=\"" + xml(value) + "\"/>\n";
  }
  out += "    </properties>\n";
  for (const CheckResult& result : results.checks) add_case(result, out);
  return out + "  </testsuite>\n</testsuites>\n";
}

std::string render_json(const Results& results) {
  nlohmann::ordered_json root;
  root[std::string(kind_name(results.kind))] = results.file;
  root["about"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : results.about) {
    root["about"].push_back({{"name", name}, {"value", value}});
  }
  root["conclusion"] = results.conclusion();
  root["exit_status"] = results.exit_status();
  root["checks"] = nlohmann::ordered_json::array();
  for (const CheckResult& result : results.checks) {
    nlohmann::ordered_json one;
    one["id"] = result.check->id;
    one["contract"] = result.check->contract;
    one["verdict"] = verdict_word(result.verdict);
    one["findings"] = nlohmann::ordered_json::array();
    for (const Finding& finding : result.verdict.findings) {
      one["findings"].push_back({{"kind", blame_name(finding.blame)}, {"text", finding.text}});
    }
    one["remarks"] = result.verdict.remarks;
    one["ms"] = result.took.count();
    root["checks"].push_back(std::move(one));
  }
  return root.dump(1) + "\n";
}

std::string render_summary(const Results& results) {
  const std::string version = results.about_value("version");
  std::string out = "# Conformance of " + results.about_value("name") +
                    (version.empty() ? "" : " " + version) + "\n\n**" + results.conclusion() +
                    "**\n\n";
  out +=
      "Judged by `loom-conformance` on this machine. A check that passes because a layer is not "
      "claimed, and is named as not held, passes.\n\n| about | |\n| --- | --- |\n";
  for (const auto& [name, value] : results.about) out += "| " + name + " | " + cell(value) + " |\n";
  out += "\n| check | what it rests on | verdict |\n| --- | --- | --- |\n";
  for (const CheckResult& result : results.checks) {
    out += "| `" + std::string(result.check->id) + "` | " +
           cell(std::string(result.check->contract)) + " | " + verdict_word(result.verdict) +
           " |\n";
  }
  std::string details;
  for (const CheckResult& result : results.checks) {
    if (result.verdict.passed() && result.verdict.remarks.empty()) continue;
    details += "* `" + std::string(result.check->id) + "`\n";
    for (const Finding& finding : result.verdict.findings) {
      details += "  * **" + std::string(blame_name(finding.blame)) + "**: " + finding.text + "\n";
    }
    for (const std::string& remark : result.verdict.remarks) details += "  * " + remark + "\n";
  }
  if (!details.empty()) out += "\n## Details\n\n" + details;
  return out;
}

}  // namespace loom::conformance
