// Changes the locale.
#include <clocale>

#include "liar.h"

namespace loom::liars {

class ChangesLocale final : public Honest {
 public:
  using Honest::Honest;

  Result<JailPlan> plan(const PlanRequest& request) const override {
    std::setlocale(LC_ALL, "C.UTF-8");
    return inner_.plan(request);
  }
};

}  // namespace loom::liars

LOOM_LIAR(loom::liars::ChangesLocale, changes_locale);
