#include "main.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <signal.h>
#include <sys/prctl.h>

#include <utility>

#include "control.h"
#include "descriptors.h"
#include "failure.h"
#include "prepare.h"
#include "prepare_document.h"
#include "run_command.h"

namespace loom::bwrap {
namespace {

StepResult<PrepareDocument> read_document() {
  if (::fcntl(kDocumentFd, F_GETFD) < 0 || ::fcntl(kReportFd, F_GETFD) < 0 ||
      ::fcntl(kControlFd, F_GETFD) < 0) {
    return stop(Stage2Step::kDocument,
                "descriptors 3 to 5: this program is started by loom-exec, not by hand", errno);
  }
  const UniqueFd file(kDocumentFd);
  LOOM_TRY(const Bytes bytes,
           read_sealed_file(file.get(), Stage2Step::kDocument, "prepare document"));
  auto document = decode_prepare_document(bytes);
  if (!document) return stop(Stage2Step::kDocument, document.error().message);
  return std::move(*document);
}

struct Committed {
  Commit commit;
  std::uint32_t landlock_abi;
};

StepResult<Committed> prepare_and_wait() {
  if (!adopt_standard_input()) return stop(Stage2Step::kDocument, "descriptor 6", errno);
  if (!fill_standard_descriptors()) return stop(Stage2Step::kDocument, "/dev/null", errno);
  if (!close_unexpected_descriptors()) return stop(Stage2Step::kDocument, "/proc/self/fd", errno);
  ::signal(SIGPIPE, SIG_IGN);  // a report that nobody reads is an error here, not a death
  send_here(kControlFd);
  LOOM_TRY(const PrepareDocument document, read_document());
  LOOM_TRY(const InnerReport report, prepare(document));
  LOOM_TRY_VOID(write_report(report, kReportFd));
  LOOM_TRY_VOID(send_ready(kControlFd));
  // While the host judges the report: what the command must not inherit, and nothing it waits for.
  LOOM_TRY_VOID(shed_inheritance());
  // A jail may wait for its command for hours; whoever lists processes is told what this one is.
  ::prctl(PR_SET_NAME, "loom-stage2", 0, 0, 0);
  LOOM_TRY(Commit commit, await_commit(kControlFd));
  return Committed{.commit = std::move(commit), .landlock_abi = document.landlock_abi};
}

}  // namespace

void run_stage2() noexcept {
  auto run = prepare_and_wait();
  give_up(run ? run_command(std::move(run->commit), run->landlock_abi, kControlFd) : run.error(),
          kControlFd);
}

}  // namespace loom::bwrap

int main() noexcept { loom::bwrap::run_stage2(); }
