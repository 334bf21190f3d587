#include "refuse.h"

#include <loom/features.h>
#include <loom/utf8.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "machine.h"
#include "platform.h"
#include "profile.h"
#include "spellings.h"

namespace loom::seatbelt {
namespace {

constexpr std::uint32_t kFirstVersion = 2;
constexpr std::uint32_t kExecVersion = 3;  // the first with an exec table

// A policy of version 3 promises a jail, and is told that it gets none.
tl::unexpected<Error> unavailable(const PlanRequest& request, const std::string& what) {
  return fail(ErrorCode::kUnsupported, (request.exec ? "confinement_unavailable: " : "") + what);
}

Result<void> refuse_version(const PlanRequest& request) {
  const std::uint32_t version = request.policy.version;
  if (version < kFirstVersion || version > kExecVersion) {
    return fail(ErrorCode::kUnsupported,
                "policy: version " + std::to_string(version) + " is not enforced by this backend");
  }
  if (version == kExecVersion && !request.exec) {
    return fail(ErrorCode::kInvalidRequest, "policy: version 3 comes without its exec table");
  }
  return {};
}

Result<void> refuse_machine(const PlanRequest& request) {
  const HostFacts& facts = request.facts;
  if (!facts.launcher.present) {
    return unavailable(request, std::string(kLauncher) + " is missing, and nothing runs without: " +
                                    facts.launcher.reason);
  }
  if (!facts.stage2.present) {
    return unavailable(request, "stage 2 is missing: " + facts.stage2.reason);
  }
  LOOM_TRY(const MachineFacts machine, decode_machine_facts(facts.backend));
  if (machine.already_profiled.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              "already_profiled: this helper is already inside a Seatbelt profile, whose content "
              "is not known, and the kernel takes no second one (" +
                  machine.already_profiled + ")");
}

std::string overlap(std::string_view what, const Place& place, std::string_view other) {
  return std::string(what) + " " + escaped(place.written.str()) + " leads to " +
         escaped(place.real.str()) + ", which lies in a " + std::string(other);
}

template <class Regions>
bool lies_in(const Regions& regions, std::string_view path) {
  for (std::string_view at = path; !at.empty(); at = above(at)) {
    if (regions.contains(at)) return true;
  }
  return false;
}

}  // namespace

Result<void> refuse_the_impossible(const PlanRequest& request) {
  if (request.command.argv.empty()) return fail(ErrorCode::kInvalidRequest, "the command is empty");
  LOOM_TRY_VOID(refuse_version(request));
  if (!request.keep_capabilities.empty()) {
    return fail(ErrorCode::kUnsupported, "there are no capabilities to keep: they are Linux only");
  }
  return refuse_machine(request);
}

Result<void> refuse_missing_mounts(const ResolvedPolicy& policy) {
  std::string absent;
  for (const MountPlace& mount : policy.mounts) {
    if (!mount.required || !mount.at.is_missing()) continue;
    if (!absent.empty()) absent += ", ";
    absent += std::string(path_role_name(PathRole::kMount)) + ": " +
              escaped(mount.at.written.str()) + " (" +
              std::generic_category().message(mount.at.error) + ")";
  }
  if (absent.empty()) return {};
  return fail(ErrorCode::kDenied, absent);
}

Result<void> refuse_mounts_over_protected(const ResolvedPolicy& policy) {
  std::unordered_set<std::string_view> mounted;
  std::unordered_set<std::string_view> hidden;
  for (const MountPlace& mount : policy.mounts) mounted.insert(mount.at.real.str());
  for (const Place& place : policy.protected_paths) hidden.insert(place.real.str());
  for (const MountPlace& mount : policy.mounts) {
    if (lies_in(hidden, mount.at.real.str())) {
      return fail(ErrorCode::kDenied, overlap("mount", mount.at, "protected path"));
    }
  }
  for (const Place& place : policy.protected_paths) {
    if (lies_in(mounted, place.real.str())) {
      return fail(ErrorCode::kDenied, overlap("protected path", place, "mount"));
    }
  }
  return {};
}

Result<void> refuse_protected_stage2(const ResolvedPolicy& policy) {
  std::set<std::string, std::less<>> hidden;
  for (const AbsolutePath& path : protected_spellings(policy)) hidden.insert(folded(path));
  for (const AbsolutePath& needed : stage2_spellings(policy)) {
    if (!lies_in(hidden, folded(needed))) continue;
    return fail(ErrorCode::kDenied, "a protected path hides " + escaped(needed.str()) +
                                        ", which every jail has to start with");
  }
  return {};
}

Result<void> refuse_too_large(const std::vector<std::string>& argv) {
  std::size_t bytes = 0;
  for (const std::string& word : argv) bytes += word.size() + 1 + sizeof(char*);
  if (bytes <= kMaxArgumentBytes) return {};
  return fail(ErrorCode::kDenied, "profile_too_large: the policy needs " + std::to_string(bytes) +
                                      " bytes of launcher arguments, and at most " +
                                      std::to_string(kMaxArgumentBytes) + " can be passed");
}

}  // namespace loom::seatbelt
