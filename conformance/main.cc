#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "answers.h"
#include "child_process.h"
#include "suite.h"

namespace loom::conformance {
namespace {

void list_checks(SubjectKind kind) {
  for (const Check& check : checks_of(kind)) {
    std::printf("%-32s %s\n", std::string(check.id).c_str(), std::string(check.contract).c_str());
  }
}

std::string probe_of(const host::Installation& installation) {
  return installation.libexec_directory + "/conformance-probe";
}

Result<Subject> find_backend(const std::string& backend) {
  Subject subject;
  LOOM_TRY(subject.installation, host::find_installation());
  LOOM_TRY(subject.backend, host::backend_file(subject.installation, backend));
  const std::string& own = subject.installation.executable;
  subject.helper = own.substr(0, own.rfind('/')) + "/loom-exec";
  subject.probe = probe_of(subject.installation);
  return subject;
}

// The helper comes alone: nothing of ours is expected beside it.
Result<Subject> find_helper(const Options& options) {
  Subject subject{.kind = SubjectKind::kHelper, .helper_arguments = options.helper_arguments};
  std::error_code error;
  subject.helper = std::filesystem::canonical(options.helper, error).string();
  if (error) {
    return fail(ErrorCode::kSystem, "helper " + options.helper + ": " + error.message());
  }
  if (::access(subject.helper.c_str(), X_OK) != 0) {
    return fail(ErrorCode::kSystem, "helper " + subject.helper + ": not executable");
  }
  LOOM_TRY(const host::Installation own, host::find_installation());
  subject.probe = probe_of(own);
  return subject;
}

// 0, or kCouldNotJudge when something could not be written.
int write_results(const Options& options, const Results& results) {
  int status = 0;
  const auto write = [&status](const std::string& file, const std::string& text) {
    if (const auto written = write_file(file, text); !written) {
      std::fprintf(stderr, "loom-conformance: %s\n", written.error().message.c_str());
      status = kCouldNotJudge;
    }
  };
  for (const Output& output : options.outputs) {
    if (output.form == Output::Form::kJson) write(output.file, render_json(results));
    if (output.form == Output::Form::kJunit) write(output.file, render_junit(results));
  }
  if (!options.summary.empty()) write(options.summary, render_summary(results));
  return status;
}

int could_not_judge(const Error& error) {
  std::fprintf(stderr, "loom-conformance: %s\n", error.message.c_str());
  return kCouldNotJudge;
}

// The other process of plan.same-elsewhere (answers.h).
int answer(char** argv) {
  const auto subject = find_backend(argv[4]);
  if (!subject) return could_not_judge(subject.error());
  return answer_queries(*subject, std::atoi(argv[2]), std::atoi(argv[3]));
}

int judge_subject(const Options& options) {
  const auto subject = kind_of(options) == SubjectKind::kHelper ? find_helper(options)
                                                                : find_backend(options.backend);
  if (!subject) return could_not_judge(subject.error());
  const Results results = run_suite(*subject, options);
  const int written = write_results(options, results);
  return written != 0 ? written : results.exit_status();
}

int run(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == kAnswerOption) return answer(argv);
  const ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  if (parsed.options.list) {
    list_checks(kind_of(parsed.options));
    return 0;
  }
  ::signal(SIGPIPE, SIG_IGN);
  adopt_orphans();
  int words = 1;  // GoogleTest's own options stay its own
  ::testing::InitGoogleTest(&words, argv);
  return judge_subject(parsed.options);
}

}  // namespace
}  // namespace loom::conformance

int main(int argc, char** argv) { return loom::conformance::run(argc, argv); }
