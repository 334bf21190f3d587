// Runs the command somewhere else when its directory is not there.
#include <loom/stage2_control.h>

#include "liar.h"

namespace loom::liars {

class IgnoresDirectory final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    LOOM_TRY(CommitDocument commit, decode_commit_document(launch.commit));
    commit.cwd = "/";
    launch.commit = encode(commit);
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::IgnoresDirectory, ignores_directory);
