#pragma once

#include "prepare_document.h"
#include "report.h"

// The steps by which this process gives up what the policy does not grant. Each gives up the whole
// run where it fails, and adds to the report only what it has seen to hold.
namespace landlock::stage2 {

void set_limits(const PrepareDocument& prepare, Report& report) noexcept;
void forbid_new_privileges() noexcept;

// Landlock and the filter are claimed where the report wants them, capabilities and dumps behind.
struct CapabilityState {
  bool empty = false;
  bool bounding = false;  // only the bounding set is not, for want of the right to clear it
};
CapabilityState drop_capabilities() noexcept;

// What of Landlock showed: a thing that went through before the restriction and not after it.
struct LandlockState {
  bool rules = false;
  bool scopes = false;  // both, abstract sockets and signals
  bool tcp = false;
};
LandlockState enter_landlock(const PrepareDocument& prepare) noexcept;

struct FilterState {
  bool showed = false;  // a refused call was not refused before
};
FilterState enter_filter(const PrepareDocument& prepare) noexcept;

// Whether a core dump may still reach somebody; null when not.
const char* why_dumps_leave() noexcept;

}  // namespace landlock::stage2
