// Control groups are Linux's: nothing here can be limited or found, and says so.
#include "host/control_group.h"

#include "host/control_group_base.h"

namespace loom::host {

namespace {

constexpr const char* kReason = "control groups are Linux only";

tl::unexpected<Error> not_here() { return fail(ErrorCode::kUnsupported, kReason); }

}  // namespace

ControlGroupBase detect_control_group_base(const std::string&, const ControlGroupPlaces&) {
  return {.path = {}, .reason = kReason};
}

Result<Swept> sweep_control_groups(const std::string&) { return not_here(); }

Result<ControlGroup> ControlGroup::make(const std::string&, std::uint64_t, pid_t, const Ceilings&) {
  return not_here();
}

Result<void> ControlGroup::enter(pid_t) { return not_here(); }

ControlGroupUse ControlGroup::use() const { return {}; }

void ControlGroup::kill_all() noexcept {}

Result<bool> ControlGroup::try_remove() { return true; }

Result<ControlGroup> make_and_enter(const std::string&, std::uint64_t, pid_t, const Ceilings&) {
  return not_here();
}

struct ControlGroupRemovals::Waiting {};

ControlGroupRemovals::ControlGroupRemovals(EventLoop& loop) : loop_(loop) {}

ControlGroupRemovals::~ControlGroupRemovals() = default;

void ControlGroupRemovals::add(ControlGroup) {}

}  // namespace loom::host
