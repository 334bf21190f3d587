#pragma once

#include <loom/features.h>
#include <loom/plan.h>
#include <loom/result.h>

#include <optional>
#include <string>
#include <vector>

namespace loom::seatbelt {

// A path and what it is on this machine.
struct Place {
  AbsolutePath written;  // as the policy, or we, spell it
  AbsolutePath real;     // links followed as far as anything exists
  FileIdentity identity{};
  FileIdentity parent_identity{};
  PathKind kind = PathKind::kMissing;
  int error = 0;
  std::vector<LinkFact> links{};

  [[nodiscard]] bool is_missing() const noexcept { return kind == PathKind::kMissing; }
};

struct MountPlace {
  Place at;
  bool writable = false;
  bool required = false;
};

// A policy on this machine: nothing is decided yet.
struct ResolvedPolicy {
  std::vector<Place> system_view{};  // the profile names them as they are written
  std::vector<Place> readable{};
  std::vector<Place> writable{};
  std::vector<Place> protected_paths{};
  std::vector<MountPlace> mounts{};
  std::optional<Place> host_scratch{};
  std::optional<AbsolutePath> private_scratch{};
  std::vector<Place> user_directories{};
  Place stage2;
};

// kInvalidRequest when a path was not looked at, or a private scratch is missing.
[[nodiscard]] Result<ResolvedPolicy> resolve(const PlanRequest& request);

// Where each link on the way to stage 2 stands, then the file itself: the kernel reads all of them.
[[nodiscard]] std::vector<AbsolutePath> stage2_spellings(const ResolvedPolicy& policy);

// What the backend adds to the policy's writable regions.
[[nodiscard]] std::vector<AbsolutePath> own_writable(const ResolvedPolicy& policy);

}  // namespace loom::seatbelt
