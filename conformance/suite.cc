#include "suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace loom::conformance {
namespace {

using Clock = std::chrono::steady_clock;

struct SuiteRun {
  const Subject& subject;
  bool prints = false;
  bool answers = true;  // until the first check says otherwise
  Results results{};
};

const Check& door(SubjectKind kind) { return checks_of(kind).front(); }

Verdict not_asked(SubjectKind kind) {
  return {
      .findings = {{.blame = Blame::kUnjudged,
                    .text = "not asked, since " + std::string(door(kind).id) + " did not pass"}},
      .remarks = {}};
}

std::string theme_of(std::string_view id) { return std::string(id.substr(0, id.find('.'))); }

class CheckTest : public ::testing::Test {
 public:
  CheckTest(SuiteRun& run, const Check& check) : run_(run), check_(check) {}

  void TestBody() override {
    const SubjectKind kind = run_.subject.kind;
    const bool at_the_door = theme_of(check_.id) == theme_of(door(kind).id);
    const auto began = Clock::now();
    CheckResult result{.check = &check_, .verdict = {}, .took = {}};
    result.verdict =
        run_.answers || at_the_door ? run_check(check_, run_.subject) : not_asked(kind);
    result.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    if (check_.id == door(kind).id && !result.verdict.passed()) run_.answers = false;
    if (run_.prints) {
      std::fputs(render_text(result).c_str(), stdout);
      std::fflush(stdout);
    }
    for (const Finding& finding : result.verdict.findings) ADD_FAILURE() << finding.text;
    run_.results.checks.push_back(std::move(result));
  }

 private:
  SuiteRun& run_;
  const Check& check_;
};

bool is_wanted(const Check& check, SubjectKind kind, const std::vector<std::string>& only) {
  // Nothing can be said of a subject that does not pass it.
  if (only.empty() || check.id == door(kind).id) return true;
  return std::any_of(only.begin(), only.end(), [&check](const std::string& wanted) {
    return check.id == wanted || check.id.starts_with(wanted + ".");
  });
}

void register_check(SuiteRun& run, const Check& check) {
  const std::string theme = theme_of(check.id);
  const std::string name(check.id.substr(theme.size() + 1));
  ::testing::RegisterTest(theme.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&run, &check]() -> CheckTest* { return new CheckTest(run, check); });
}

void silence_google_test() {
  ::testing::GTEST_FLAG(catch_exceptions) = false;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
}

}  // namespace

Results run_suite(const Subject& subject, const Options& options) {
  SuiteRun run{.subject = subject};
  run.prints = std::any_of(options.outputs.begin(), options.outputs.end(),
                           [](const Output& output) { return output.form == Output::Form::kText; });
  run.results.kind = subject.kind;
  run.results.file = subject.file();
  run.results.about = describe(subject);
  if (run.prints) {
    std::printf("loom-conformance: %s\n", subject.file().c_str());
    for (const auto& [name, value] : run.results.about) {
      std::printf("  %s: %s\n", name.c_str(), value.c_str());
    }
    std::fputs("\n", stdout);
    std::fflush(stdout);
  }
  silence_google_test();
  for (const Check& check : checks_of(subject.kind)) {
    if (is_wanted(check, subject.kind, options.only)) register_check(run, check);
  }
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // the results say it all
  if (run.prints) std::printf("\nRESULT: %s\n", run.results.conclusion().c_str());
  return std::move(run.results);
}

}  // namespace loom::conformance
