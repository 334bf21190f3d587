#include <loom/utf8.h>

#include <cstdio>
#include <string>

#include "app/person_run.h"
#include "app/run_command.h"

namespace loom::app {
namespace {

const char* form_words(MountForm form) {
  switch (form) {
    case MountForm::kNone:
      return "the jail's own empty root";
    case MountForm::kBind:
      return "read and write";
    case MountForm::kBindTry:
      return "read and write, if it exists";
    case MountForm::kReadOnlyBind:
      return "read";
    case MountForm::kReadOnlyBindTry:
      return "read, if it exists";
    case MountForm::kTmpfs:
      return "fresh temporary directory";
    case MountForm::kEmptyDirectory:
      return "hidden: empty, read-only";
    case MountForm::kNullDevice:
      return "hidden: neither read nor written";
    case MountForm::kProc:
      return "fresh, of this jail only";
    case MountForm::kDev:
      return "fresh, a few harmless devices";
  }
  return "";
}

void print_view(const JailPlan& plan) {
  std::printf("view, in order (a later line covers an earlier one):\n");
  for (const MountOperation& operation : plan.view) {
    const std::string region = escaped(operation.region.str());
    std::printf("  %-16s %s  (%s)", std::string(mount_class_name(operation.mount_class)).c_str(),
                region.c_str(), form_words(operation.form));
    if (operation.written != operation.region) {
      std::printf("  written %s", escaped(operation.written.str()).c_str());
    }
    std::printf("\n");
  }
}

void print_list(const char* title, const std::vector<std::string>& lines, const char* prefix = "") {
  if (lines.empty()) return;
  std::printf("%s:\n", title);
  for (const std::string& line : lines) std::printf("  %s%s\n", prefix, escaped(line).c_str());
}

// One option with its values a line.
void print_options(const std::vector<std::string>& argv) {
  std::printf("bubblewrap options:\n");
  bool first = true;
  for (const std::string& word : argv) {
    const bool starts = word.starts_with("--");
    if (!first && starts) std::printf("\n");
    std::printf("%s%s", starts ? "  " : " ", escaped(word).c_str());
    first = false;
  }
  std::printf("\n");
}

}  // namespace

int plan_command(int argc, const char* const* argv, spdlog::logger& log) {
  const ParsedOptions parsed = parse_run_options("plan", argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  // Nothing runs here, so nothing is demanded: what would be refused shows in the audit.
  auto decided = decide_for_person(parsed.options, Demand::kBestEffort, log);
  const auto audited = decided ? audit_run(*decided->session, decided->run) : Result<void>();
  if (!decided || !audited) {
    const Error& error = decided ? audited.error() : decided.error();
    std::fprintf(stderr, "loom-exec: %s\n", printable(error.message).c_str());
    return kNotSetUp;
  }
  const PreparedRun& run = decided->run;
  print_view(run.plan);
  print_list("in every report", run.audit.always);
  print_list("claimed once the jail has reported", run.audit.when_witnessed);
  print_list("claimed beside it", run.audit.extras);
  print_list("wider than asked", run.audit.widened, "skip:");
  print_list("notes", run.plan.notes);
  if (!run.plan.canonical_argv.empty()) print_options(run.plan.canonical_argv);
  if (!run.plan.digest.empty()) std::printf("digest: %s\n", run.plan.digest.c_str());
  return 0;
}

}  // namespace loom::app
