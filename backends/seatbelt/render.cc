#include "render.h"

#include <utility>

#include "launcher_argv.h"
#include "run_memo.h"

namespace loom::seatbelt {
namespace {

// Descriptors of stage 2; the launcher passes on what it inherits.
constexpr int kDocumentNumber = 3;
constexpr int kReportNumber = 4;
constexpr int kControlNumber = 5;

constexpr std::uint32_t kObserveMs = 20;

}  // namespace

Result<LaunchSpec> render(const JailPlan& plan) {
  LOOM_TRY(RunMemo memo, decode_run_memo(plan.backend));
  LaunchSpec launch;
  launch.image = ImageKind::kLauncher;
  launch.argv = launcher_argv(memo);
  launch.cwd = memo.cwd;
  launch.memory_files.push_back({.role = "stage-2 document",
                                 .child_number = kDocumentNumber,
                                 .bytes = std::move(memo.prepare)});
  if (is_long(memo)) {
    const ByteView profile = as_bytes(memo.profile);
    launch.memory_files.push_back({.role = "profile",
                                   .child_number = kProfileNumber,
                                   .bytes = Bytes(profile.begin(), profile.end())});
  }
  launch.report_number = kReportNumber;
  launch.control_number = kControlNumber;
  launch.commit = std::move(memo.commit);
  launch.observe_ms = kObserveMs;
  return launch;
}

}  // namespace loom::seatbelt
