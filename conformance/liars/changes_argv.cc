// Runs other words than it was given.
#include <loom/stage2_control.h>

#include "liar.h"

namespace loom::liars {

class ChangesArgv final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    LOOM_TRY(CommitDocument commit, decode_commit_document(launch.commit));
    if (commit.argv.size() > 1) commit.argv.pop_back();
    launch.commit = encode(commit);
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ChangesArgv, changes_argv);
