#pragma once

#include <loom/report.h>
#include <loom/result.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"
#include "place.h"

namespace loom::conformance {

// A launch that got as far as its report and was not committed: what an outsider saw at that
// moment. The command never ran.
struct StoppedLaunch {
  InnerReport report{};
  std::vector<std::string> claims_when_witnessed{};  // the audit's
  std::string status_lines{};                        // /proc/<pid>/status of the inner stage
  std::string mounts{};                              // its mountinfo
  bool same_mounts = false;                          // it is in our own mount namespace

  // The value of one line of status.
  [[nodiscard]] std::string status(std::string_view name) const;
};

// kUnsupported when the launch has no inner stage. Everything that was started has ended.
[[nodiscard]] Result<StoppedLaunch> launch_and_stop(app::Session& session, const Policy& policy,
                                                    const Place& place);

}  // namespace loom::conformance
