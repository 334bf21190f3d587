// Tells the jail's builder what will run in it.
#include <loom/stage2_control.h>

#include "liar.h"

namespace loom::liars {

class CopiesCommand final : public Honest {
 public:
  using Honest::Honest;

  Result<LaunchSpec> render(const JailPlan& plan) const override {
    LOOM_TRY(LaunchSpec launch, inner_.render(plan));
    launch.memory_files.push_back(
        {.role = "the command", .child_number = 90, .bytes = launch.commit});
    return launch;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::CopiesCommand, copies_command);
