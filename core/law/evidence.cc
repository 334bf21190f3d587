#include "law/evidence.h"

namespace loom::law {

Evidence restrict(Evidence a, Evidence b) noexcept {
  return {.allowed = a.allowed && b.allowed, .excluded = a.excluded || b.excluded};
}

Evidence extend(Evidence a, Evidence b) noexcept {
  return {.allowed = a.allowed || b.allowed, .excluded = a.excluded || b.excluded};
}

std::optional<Reason> refusal_of(Evidence evidence) noexcept {
  if (evidence.admits()) return std::nullopt;
  if (!evidence.excluded) return Reason::kNotAllowed;
  return evidence.allowed ? Reason::kExcludedOverAllowance : Reason::kExcluded;
}

std::string_view reason_name(Reason reason) noexcept {
  switch (reason) {
    case Reason::kNotAllowed:
      return "not_allowed";
    case Reason::kExcluded:
      return "excluded";
    case Reason::kExcludedOverAllowance:
      return "excluded_over_allowance";
    case Reason::kNotAHostObject:
      return "not_a_host_object";
    case Reason::kReadOnly:
      return "read_only";
    case Reason::kMountPoint:
      return "mount_point";
    case Reason::kCrossesMounts:
      return "crosses_mounts";
    case Reason::kPinned:
      return "pinned";
    case Reason::kWouldMoveExcluded:
      return "would_move_excluded";
  }
  return "unknown";
}

std::string_view evidence_name(Evidence evidence) noexcept {
  if (evidence.allowed) return evidence.excluded ? "both" : "for";
  return evidence.excluded ? "against" : "none";
}

}  // namespace loom::law
