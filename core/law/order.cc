#include "law/order.h"

#include <algorithm>

namespace loom::law {
namespace {

bool is_null_device(const ResolvedRequest& request) {
  return request.written == "/dev/null" &&
         (request.operation == Operation::kRead || request.operation == Operation::kWrite);
}

// Renaming another file over a pin's name is not among them: the pinned image lives on.
bool harms_a_pin(Operation operation) {
  return operation == Operation::kWrite || operation == Operation::kRemove ||
         operation == Operation::kRenameFrom || operation == Operation::kMountWritable;
}

bool takes_the_name_away(Operation operation) {
  return operation == Operation::kRemove || operation == Operation::kRenameFrom;
}

const Exclusion* first_beneath(std::span<const Exclusion> exclusions, const Subject& directory) {
  const auto found = std::find_if(exclusions.begin(), exclusions.end(), [&](const Exclusion& rule) {
    return rule.lies_beneath(directory);
  });
  return found == exclusions.end() ? nullptr : &*found;
}

std::optional<Ruling> would_move(const Subject& directory, const Table& exec,
                                 std::span<const Exclusion> protected_paths) {
  const Exclusion* const hidden = first_beneath(protected_paths, directory);
  const Exclusion* const found =
      hidden != nullptr ? hidden : first_beneath(exec.exclusions(), directory);
  if (found == nullptr) return std::nullopt;
  return Ruling{.refusal = Reason::kWouldMoveExcluded,
                .step = Step::kMoves,
                .beneath = DecidingRule{.scope = found->scope(),
                                        .real = found->place()->real,
                                        .origin = found->origin()},
                .beneath_is_protected = hidden != nullptr};
}

}  // namespace

Ruling rule_on(const ResolvedRequest& request, const Table& exec,
               std::span<const Exclusion> protected_paths) {
  if (is_null_device(request)) return {.step = Step::kNullDevice};
  if (request.is_pin && harms_a_pin(request.operation)) {
    return {.refusal = Reason::kPinned, .step = Step::kPin};
  }
  if (request.file_system) return {.refusal = request.file_system, .step = Step::kFileSystem};
  if (takes_the_name_away(request.operation) && !request.landing.is_file()) {
    if (auto moved = would_move(request.landing, exec, protected_paths)) return *std::move(moved);
  }
  if (request.operation != Operation::kExecute) return {};
  const Verdict verdict = judge(exec, request.landing);
  return {.refusal = verdict.refusal, .step = Step::kExec, .exec = verdict};
}

}  // namespace loom::law
