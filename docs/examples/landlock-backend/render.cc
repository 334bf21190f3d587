#include "render.h"

#include <utility>

#include "run_memo.h"

namespace landlock {
namespace {

// stage2/control.h has the same numbers.
constexpr int kDocumentNumber = 3;
constexpr int kReportNumber = 4;
constexpr int kControlNumber = 5;

}  // namespace

loom::Result<loom::LaunchSpec> render(const loom::JailPlan& plan) {
  LOOM_TRY(RunMemo memo, decode_run_memo(plan.backend));
  loom::LaunchSpec launch;
  launch.image = loom::ImageKind::kStage2;
  launch.argv = {kStage2};
  launch.memory_files.push_back({.role = "stage-2 document",
                                 .child_number = kDocumentNumber,
                                 .bytes = std::move(memo.document)});
  launch.report_number = kReportNumber;
  launch.control_number = kControlNumber;
  launch.commit = std::move(memo.commit);
  launch.ceilings = memo.ceilings;
  launch.watched = std::move(memo.watched);
  return launch;
}

}  // namespace landlock
