#pragma once

#include <loom/stage2_control.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace loom::seatbelt {

// Where and why stage 2 stops. Goes to standard error as one line and to the host as kFailed.
struct Failure {
  Stage2Step step = Stage2Step::kDocument;
  std::string thing{};  // what the step failed on
  int error = 0;        // errno, 0 when no system call was involved
};

// A value, or the Failure that ends stage 2. Works with LOOM_TRY.
template <class T>
class [[nodiscard]] StepResult : public tl::expected<T, Failure> {
  using Base = tl::expected<T, Failure>;

 public:
  using Base::Base;
  StepResult(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor)
};

[[nodiscard]] inline tl::unexpected<Failure> stop(Stage2Step step, std::string thing,
                                                  int error = 0) {
  return tl::unexpected<Failure>(Failure{.step = step, .thing = std::move(thing), .error = error});
}

// Tells the host over `control` (best effort) and standard error, and ends the process with 126.
[[noreturn]] void give_up(const Failure& failure, int control) noexcept;

}  // namespace loom::seatbelt
