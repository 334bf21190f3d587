#pragma once

#include <loom/features.h>
#include <loom/plan.h>

#include <optional>
#include <string>
#include <vector>

namespace landlock {

// A path of the policy, or one that every command sees, and what it is on this machine.
struct Place {
  loom::PathRole role = loom::PathRole::kSystemRoot;
  loom::AbsolutePath written;  // printed, never compared
  loom::AbsolutePath real;
  loom::PathKind kind = loom::PathKind::kMissing;
  loom::FileIdentity identity{};
  loom::FileIdentity parent_identity{};
  std::uint64_t link_count = 0;
  std::vector<loom::LinkFact> links{};
  int error = 0;
  bool writable = false;  // kMount
  bool required = false;  // kMount
  bool device = false;    // kSystemRoot: one of kDevices

  [[nodiscard]] bool is_missing() const { return kind == loom::PathKind::kMissing; }
};

// Whether the policy lets the command write there.
[[nodiscard]] bool is_writable(const Place& place);
// "writable root /srv/ws", for messages.
[[nodiscard]] std::string described(const Place& place);

// All of them, each list sorted by its real paths: the order of a policy's lists means nothing. A
// path that the facts do not know counts as missing.
struct Places {
  std::vector<Place> grants{};  // system roots, devices, roots, mounts, a scratch of the host's
  std::vector<Place> hidden{};  // protected paths
  std::optional<loom::AbsolutePath> private_scratch{};
};
[[nodiscard]] Places find_places(const loom::PlanRequest& request);

}  // namespace landlock
