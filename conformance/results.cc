#include "results.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "options.h"
#include "scene.h"

namespace loom::conformance {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

const char* exec_name(ExecSupport exec) {
  switch (exec) {
    case ExecSupport::kNone:
      return "none";
    case ExecSupport::kEnumerated:
      return "enumerated";
    case ExecSupport::kRendered:
      return "rendered";
  }
  return "none";
}

}  // namespace

// Runs where the backend may do what it likes; each remark is one line of what is known.
void tell_of_backend(const Subject& subject, Judgement& judgement) {
  const loom_backend_v1* const table = load(subject, judgement);
  if (table == nullptr) return;
  judgement.remark(std::string("name=") + table->name);
  judgement.remark(std::string("version=") + table->version);
  judgement.remark(std::string("built with=") + table->build_tag);
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  const Features& features = scene->session().features();
  judgement.remark("claims=" + joined(features.tags));
  for (const AbsentFeature& absent : features.absent) {
    judgement.remark("lacks=" + absent.tag + ": " + absent.reason);
  }
  judgement.remark(std::string("degraded=") + (features.degraded ? "yes" : "no"));
  judgement.remark(std::string("confines programs=") + exec_name(features.exec));
  if (!features.refusal.empty()) judgement.remark("serves only when told to=" + features.refusal);
}

std::string Results::about_value(const std::string& name) const {
  for (const auto& [key, value] : about) {
    if (key == name) return value;
  }
  return {};
}

std::size_t Results::passed() const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(),
                    [](const CheckResult& result) { return result.verdict.passed(); }));
}

std::size_t Results::blamed(Blame blame) const {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [blame](const CheckResult& result) {
        return !result.verdict.passed() && result.verdict.blame() == blame;
      }));
}

int Results::exit_status() const {
  if (blamed(Blame::kContract) + blamed(Blame::kClaim) > 0) return kNotConforming;
  return blamed(Blame::kUnjudged) > 0 || checks.empty() ? kCouldNotJudge : kConforming;
}

std::string Results::conclusion() const {
  const std::string word = exit_status() == kConforming      ? "conforming"
                           : exit_status() == kNotConforming ? "not conforming"
                                                             : "could not judge";
  return word + " (" + std::to_string(checks.size()) + " checks: " + std::to_string(passed()) +
         " passed, " + std::to_string(blamed(Blame::kContract)) + " break the contract, " +
         std::to_string(blamed(Blame::kClaim)) + " claim what does not hold, " +
         std::to_string(blamed(Blame::kUnjudged)) + " not judged)";
}

About describe(const Subject& subject) {
  const bool helper = subject.kind == SubjectKind::kHelper;
  const Check about_check{
      .id = "about", .contract = "", .judge = helper ? tell_of_helper : tell_of_backend};
  About about;
  for (const std::string& remark : run_check(about_check, subject).remarks) {
    const std::size_t mark = remark.find('=');
    if (mark != std::string::npos)
      about.emplace_back(remark.substr(0, mark), remark.substr(mark + 1));
  }
  utsname system{};
  if (::uname(&system) == 0) {
    about.emplace_back("machine",
                       std::string(system.sysname) + " " + system.release + " " + system.machine);
  }
  about.emplace_back("uid", std::to_string(::geteuid()));
  return about;
}

Result<void> write_file(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return {};
  return fail(ErrorCode::kSystem, "write " + file + ": " + std::strerror(errno), errno);
}

}  // namespace loom::conformance
