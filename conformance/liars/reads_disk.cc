// Looks at the disk where the facts should be asked.
#include <unistd.h>

#include "liar.h"

namespace loom::liars {

class ReadsDisk final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    LOOM_TRY(JailPlan plan, inner_.plan(request));
    for (const PathFact& fact : request.facts.paths) {
      if (::access(fact.path.str().c_str(), F_OK) == 0) continue;
      plan.notes.push_back(fact.path.str() + " is not there");
    }
    return plan;
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ReadsDisk, reads_disk);
