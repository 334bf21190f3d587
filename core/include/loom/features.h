#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/policy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom {

// A layer that this machine lacks, and why.
struct AbsentFeature {
  std::string tag{};
  std::string reason{};
  friend bool operator==(const AbsentFeature&, const AbsentFeature&) = default;
};

enum class ExecSupport : std::uint8_t { kNone, kEnumerated, kRendered };

// What a backend can enforce on a machine like the one the facts describe.
struct Features {
  std::vector<std::string> tags{};  // for the hello, in order: "rlimits", "pgroup", "bwrap", …
  std::vector<AbsentFeature> absent{};
  bool degraded = false;  // the platform's strongest jail cannot be used here
  std::string refusal{};  // not empty: may not serve without --allow-unenforced, and why
  ExecSupport exec = ExecSupport::kNone;
  // A launch may wait for its commit as long as it likes, while every verb but start is called. Of
  // the command, and of the nonce, nothing but the commit tells: another command asks no more.
  bool can_warm = false;
  friend bool operator==(const Features&, const Features&) = default;
};

struct SurveyRequest {
  Policy policy{};
  HostFacts facts{};  // without paths
  friend bool operator==(const SurveyRequest&, const SurveyRequest&) = default;
};

// Which list of the policy (or the backend itself) a path comes from; used in refusals.
enum class PathRole : std::uint8_t {
  kSystemRoot,
  kReadableRoot,
  kWritableRoot,
  kProtected,
  kMount,
  kScratch,
  kPiece,  // a program of the backend's own, or a place that the platform makes every run write
};
[[nodiscard]] std::string_view path_role_name(PathRole role) noexcept;  // "writable_roots", …

// Where the host makes the private scratch of a run, when that is a directory of the host: a fresh
// one of mode 0700, named `prefix` and random characters, gone when the run has settled.
struct PrivateScratch {
  AbsolutePath parent;
  std::string prefix{};
  friend bool operator==(const PrivateScratch&, const PrivateScratch&) = default;
};

struct SurveyPath {
  AbsolutePath path;
  PathRole role = PathRole::kReadableRoot;
  friend bool operator==(const SurveyPath&, const SurveyPath&) = default;
};

// What the host must look at before this backend can plan.
struct Survey {
  std::vector<SurveyPath> paths{};
  bool needs_mounts = false;  // fill HostFacts::mounts
  std::vector<AbsolutePath>
      search_excluded{};  // regions the command can write: no program is found there
  std::optional<std::string> scratch_dir{};  // value of LOOM_SCRATCH_DIR; nullopt: left out
  // Instead of scratch_dir: the host makes it before the plan, which learns where it is
  // (PlanRequest::private_scratch); LOOM_SCRATCH_DIR names it, and no program is found in it.
  std::optional<PrivateScratch> private_scratch{};
  friend bool operator==(const Survey&, const Survey&) = default;
};

// Programs the backend needs besides itself.
struct Pieces {
  std::string launcher{};  // a name to find on the helper's PATH, an absolute path, or empty
  // A file's name, or empty. It lies in PREFIX/libexec/loom-exec where the backend lies in
  // PREFIX/lib/loom-exec/backends, or in the helper's own libexec/loom-exec.
  std::string stage2{};
  friend bool operator==(const Pieces&, const Pieces&) = default;
};

enum class ProbePhase : std::uint8_t {
  kBeforeHello,  // kernel features only; nothing may be launched
  kBeforePlan,   // launches allowed, through the host
};

struct ProbeRequest {
  ProbePhase phase = ProbePhase::kBeforeHello;
  HostFacts facts{};  // facts.backend holds what the earlier phase returned
  friend bool operator==(const ProbeRequest&, const ProbeRequest&) = default;
};

}  // namespace loom
