#include "main.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <signal.h>

#include <utility>

#include "control.h"
#include "descriptors.h"
#include "failure.h"
#include "prepare.h"
#include "prepare_document.h"
#include "run_command.h"

namespace loom::seatbelt {
namespace {

StepResult<PrepareDocument> read_document() {
  if (::fcntl(kDocumentFd, F_GETFD) < 0 || ::fcntl(kReportFd, F_GETFD) < 0 ||
      ::fcntl(kControlFd, F_GETFD) < 0) {
    return stop(Stage2Step::kDocument,
                "descriptors 3 to 5: this program is started by loom-exec, not by hand", errno);
  }
  const UniqueFd file(kDocumentFd);
  LOOM_TRY(const Bytes bytes,
           read_document_file(file.get(), Stage2Step::kDocument, "prepare document"));
  auto document = decode_prepare_document(bytes);
  if (!document) return stop(Stage2Step::kDocument, document.error().message);
  return std::move(*document);
}

StepResult<CommitDocument> prepare_and_wait() {
  if (!fill_standard_descriptors()) return stop(Stage2Step::kDocument, "/dev/null", errno);
  close_unexpected_descriptors();
  ::signal(SIGPIPE, SIG_IGN);  // a report that nobody reads is an error here, not a death
  send_here(kControlFd);
  LOOM_TRY(const PrepareDocument document, read_document());
  LOOM_TRY(const InnerReport report, prepare(document));
  LOOM_TRY_VOID(write_report(report, kReportFd));
  LOOM_TRY_VOID(send_ready(kControlFd));
  return await_commit(kControlFd);
}

}  // namespace

void run_stage2() noexcept {
  auto commit = prepare_and_wait();
  if (!commit) give_up(commit.error(), kControlFd);
  reset_signals();
  give_up(run_command(std::move(*commit)), kControlFd);
}

}  // namespace loom::seatbelt

int main() noexcept { loom::seatbelt::run_stage2(); }
