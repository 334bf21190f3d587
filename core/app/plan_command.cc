#include <loom/utf8.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

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
    case MountForm::kClosedDirectory:
      return "hidden: closed, read-only";
    case MountForm::kNullDevice:
      return "hidden: neither read nor written";
    case MountForm::kProc:
      return "fresh, of this jail only";
    case MountForm::kRule:
      return "rules";
    case MountForm::kDev:
      return "fresh, a few harmless devices";
  }
  return "";
}

const char* operation_words(const MountOperation& operation) {
  if (operation.mount_class == MountClass::kPin) return "read and write; its name cannot be moved";
  return form_words(operation.form);
}

void print_view(const JailPlan& plan) {
  std::printf("view, in order (a later line covers an earlier one):\n");
  for (const MountOperation& operation : plan.view) {
    const std::string region = escaped(operation.region.str());
    std::printf("  %-16s %s  (%s)", std::string(mount_class_name(operation.mount_class)).c_str(),
                region.c_str(), operation_words(operation));
    if (operation.written != operation.region) {
      std::printf("  written %s", escaped(operation.written.str()).c_str());
    }
    std::printf("\n");
  }
}

const char* scope_words(ExecScope scope) {
  switch (scope) {
    case ExecScope::kAny:
      return "any";
    case ExecScope::kDirectory:
      return "dir";
    case ExecScope::kFile:
      return "file";
    case ExecScope::kName:
      return "name";
  }
  return "";
}

void print_made(const JailPlan& plan) {
  if (plan.to_make.empty()) return;
  std::printf("made for the run, removed after it:\n");
  for (const MadeName& name : plan.to_make) {
    std::printf("  %s  (%s)\n", escaped(name.path.str()).c_str(),
                name.intermediate ? "a directory on the way" : "to be hidden");
  }
}

void print_rule(const char* polarity, const ExecRule& rule) {
  const bool named = rule.scope == ExecScope::kName;
  const std::string place = named ? rule.name : rule.real.str();
  std::printf("  %-8s%-5s %s", polarity, scope_words(rule.scope), escaped(place).c_str());
  if (rule.written != place && rule.scope != ExecScope::kAny) {
    std::printf("  written %s", escaped(rule.written).c_str());
  }
  std::printf("\n");
}

void print_programs(const PreparedRun& run) {
  if (run.admitted) {
    std::printf("program: %s\n", escaped(run.admitted->program().real.str()).c_str());
  }
  if (!run.exec || !run.exec->restrictive) return;
  std::printf("what may be executed (a denied path stays denied, whatever is allowed):\n");
  for (const ExecRule& rule : run.exec->allow) print_rule("allow", rule);
  for (const ExecRule& rule : run.exec->deny) print_rule("deny", rule);
  for (const AbsolutePath& file : run.exec->support) {
    std::printf("  %-8s%-5s %s\n", "support", "file", escaped(file.str()).c_str());
  }
}

void print_list(const char* title, const std::vector<std::string>& lines, const char* prefix = "") {
  if (lines.empty()) return;
  std::printf("%s:\n", title);
  for (const std::string& line : lines) std::printf("  %s%s\n", prefix, escaped(line).c_str());
}

// "-D" has its value in the same word.
bool begins_option(std::string_view word) {
  return word.starts_with("--") || word == "-p" || word.starts_with("-D");
}

// A text of several lines stands below its option.
void print_text(std::string_view value) {
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('\n'), value.size());
    std::printf("\n    %s", escaped(value.substr(0, end)).c_str());
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

// One option with its values a line. Only a profile has lines of its own: in any other value a line
// feed belongs to a name, and is escaped.
void print_options(const std::string& launcher, const std::vector<std::string>& argv) {
  const std::string name = launcher.empty() ? "launcher" : launcher.substr(launcher.rfind('/') + 1);
  const bool is_bwrap = name == "bwrap";
  std::printf("%s options:\n", is_bwrap ? "bubblewrap" : escaped(name).c_str());
  const std::string* before = nullptr;
  for (const std::string& word : argv) {
    if (before != nullptr && *before == "-p" && !is_bwrap) {
      print_text(word);
    } else if (begins_option(word)) {
      std::printf("%s  %s", before == nullptr ? "" : "\n", escaped(word).c_str());
    } else {
      std::printf(" %s", escaped(word).c_str());
    }
    before = &word;
  }
  std::printf("\n");
}

}  // namespace

// No lines: this backend has no filter, or this machine can install none.
int print_filter(const PersonRun& decided) {
  for (const std::string& line : decided.run.plan.filter) std::printf("%s\n", line.c_str());
  if (!decided.run.plan.filter.empty()) return 0;
  std::string reason = "this backend has none";
  for (const AbsentFeature& absent : decided.session->features().absent) {
    if (absent.tag == "seccomp") reason = absent.reason;
  }
  std::printf("no system call would be refused: %s\n", printable(reason).c_str());
  return 0;
}

int plan_command(int argc, const char* const* argv, spdlog::logger& log) {
  ParsedOptions parsed = parse_run_options("plan", argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  // The filter is the same for every command, and so may be asked for without one.
  if (parsed.options.command.empty()) parsed.options.command = {"true"};
  auto decided = decide_for_person(parsed.options, Purpose::kShow, log);
  const auto audited = decided ? audit_run(*decided->session, decided->run) : Result<void>();
  if (!decided || !audited) {
    const Error& error = decided ? audited.error() : decided.error().error;
    std::fprintf(stderr, "loom-exec: %s\n", printable(error.message).c_str());
    return kNotSetUp;
  }
  if (parsed.options.show_filter) return print_filter(*decided);
  const PreparedRun& run = decided->run;
  print_view(run.plan);
  print_made(run.plan);
  print_programs(run);
  print_list("in every report", run.audit.always);
  print_list("claimed once the jail has reported", run.audit.when_witnessed);
  print_list("claimed beside it", run.audit.extras);
  print_list("claimed of the policy", run.extras);
  print_list("wider than asked", run.audit.widened, "skip:");
  print_list("notes", run.plan.notes);
  if (!run.plan.canonical_argv.empty()) {
    print_options(decided->session->facts().launcher.path, run.plan.canonical_argv);
  }
  if (!run.plan.digest.empty()) std::printf("digest: %s\n", run.plan.digest.c_str());
  return 0;
}

}  // namespace loom::app
