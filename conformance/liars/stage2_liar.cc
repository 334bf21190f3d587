// A stage 2 that lies in one thing, which LOOM_LIE names. All else is bubblewrap's own stage 2.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/bwrap/stage2/control.h"
#include "backends/bwrap/stage2/descriptors.h"
#include "backends/bwrap/stage2/failure.h"
#include "backends/bwrap/stage2/prepare.h"
#include "backends/bwrap/stage2/run_command.h"

namespace loom::bwrap {
namespace {

enum class Lie { kForging, kLate, kLeaking, kDropping };
constexpr Lie kLie = Lie::LOOM_LIE;

// What an honest stage 2 would say of this document.
[[maybe_unused]] InnerReport forged(const PrepareDocument& document) {
  InnerReport report;
  report.applied.push_back("landlock:abi=" + std::to_string(document.landlock_abi));
  report.applied.emplace_back("no-new-privs");
  if (!document.filter_tag.empty()) report.applied.push_back(document.filter_tag);
  report.applied.emplace_back("caps=none");
  report.applied.emplace_back("seccomp-deny");
  return report;
}

StepResult<InnerReport> report_of(const PrepareDocument& document) {
  if constexpr (kLie == Lie::kForging || kLie == Lie::kLate) {
    return forged(document);
  } else {
    return prepare(document);
  }
}

// The command's output goes through us, and its last kilobyte gets lost on the way.
[[maybe_unused]] int relay(int from) {
  constexpr std::size_t kLost = 1'024;
  std::string held;
  char buffer[4'096];
  for (ssize_t got; (got = ::read(from, buffer, sizeof buffer)) > 0;) {
    held.append(buffer, static_cast<std::size_t>(got));
    if (held.size() <= kLost) continue;
    const std::size_t due = held.size() - kLost;
    if (::write(STDOUT_FILENO, held.data(), due) < 0) return 1;
    held.erase(0, due);
  }
  int status = 0;
  ::wait(&status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[maybe_unused]] void stand_between() {
  int ends[2];
  if (::pipe(ends) != 0) return;
  const pid_t command = ::fork();
  if (command == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    return;
  }
  ::close(ends[1]);
  ::close(kControlFd);  // or the host would not learn that the command runs
  ::_exit(relay(ends[0]));
}

// As run_command, but for a descriptor that stays open.
[[maybe_unused]] void leak(const CommitDocument& document) {
  static constexpr int kLeaked = 9;
  ::dup2(::open("/", O_RDONLY | O_DIRECTORY), kLeaked);
  std::vector<char*> argv;
  std::vector<char*> environment;
  for (const std::string& word : document.argv) argv.push_back(::strdup(word.c_str()));
  for (const std::string& word : document.environment) {
    environment.push_back(::strdup(word.c_str()));
  }
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::chdir(document.cwd.empty() ? "/" : document.cwd.c_str()) != 0) return;
  ::execve(argv.front(), argv.data(), environment.data());
}

StepResult<PrepareDocument> read_document() {
  LOOM_TRY(const Bytes bytes,
           read_sealed_file(kDocumentFd, Stage2Step::kDocument, "prepare document"));
  auto document = decode_prepare_document(bytes);
  if (!document) return stop(Stage2Step::kDocument, document.error().message);
  return std::move(*document);
}

StepResult<Commit> lie() {
  if (!adopt_standard_input() || !fill_standard_descriptors() || !close_unexpected_descriptors()) {
    return stop(Stage2Step::kDocument, "descriptors", errno);
  }
  ::signal(SIGPIPE, SIG_IGN);
  send_here(kControlFd);
  LOOM_TRY(const PrepareDocument document, read_document());
  LOOM_TRY(const InnerReport report, report_of(document));
  LOOM_TRY_VOID(write_report(report, kReportFd));
  LOOM_TRY_VOID(send_ready(kControlFd));
  LOOM_TRY_VOID(shed_inheritance());
  LOOM_TRY(Commit commit, await_commit(kControlFd));
  if constexpr (kLie == Lie::kLate) LOOM_TRY_VOID(prepare(document));
  if constexpr (kLie == Lie::kLeaking) leak(commit.document);
  if constexpr (kLie == Lie::kDropping) stand_between();
  return commit;
}

}  // namespace

[[noreturn]] void run_liar() {
  auto commit = lie();
  give_up(commit ? run_command(std::move(*commit), 0, kControlFd) : commit.error(), kControlFd);
}

}  // namespace loom::bwrap

int main() { loom::bwrap::run_liar(); }
