#include "refuse.h"

#include <loom/other_names.h>
#include <loom/utf8.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <system_error>

#include "floor.h"
#include "regions.h"

namespace landlock {
namespace {

using loom::AbsolutePath;
using loom::ErrorCode;
using loom::PathRole;
using loom::Result;

constexpr std::uint32_t kVersion = 2;  // of policies
constexpr std::size_t kNamed = 3;      // of many offenders, as many are named

// One refusal for all offenders of a kind.
class Offenders {
 public:
  void add(const std::string& one) {
    if (++count_ > kNamed) return;
    if (!list_.empty()) list_ += "; ";
    list_ += one;
  }
  [[nodiscard]] Result<void> refuse(std::string_view why) const {
    if (count_ == 0) return {};
    std::string text = list_;
    if (count_ > kNamed) text += "; and " + std::to_string(count_ - kNamed) + " more";
    if (!why.empty()) text += ": " + std::string(why);
    return loom::fail(ErrorCode::kDenied, std::move(text));
  }

 private:
  std::string list_;
  std::size_t count_ = 0;
};

Result<void> unsupported(std::string text) {
  return loom::fail(ErrorCode::kUnsupported, std::move(text));
}

Result<void> refuse_kernel(const loom::PlanRequest& request, const KernelFacts& kernel) {
  if (!request.facts.stage2.present) {
    return unsupported("the inner stage is missing: " + request.facts.stage2.reason);
  }
  if (kernel.abi == 0) {
    return unsupported("Landlock, which all of this backend rests on: " + kernel.no_landlock);
  }
  if (!kernel.seccomp) {
    return unsupported("system-call filters, which hold the network and more: " +
                       kernel.no_seccomp);
  }
  return {};
}

// Whatever is granted inside a protected path is hidden with it: no rule is made for it.
std::vector<const Place*> opened(const Places& places, const Regions& hidden) {
  std::vector<const Place*> grants;
  for (const Place& place : places.grants) {
    if (!place.is_missing() && hidden.at_or_above(place.real) == nullptr) grants.push_back(&place);
  }
  return grants;
}

Result<void> refuse_masks_inside(const Places& places, const Regions& open) {
  Offenders offenders;
  for (const Place& path : places.hidden) {
    const Place* const around = open.above(path.real);
    if (around != nullptr) offenders.add(described(path) + " lies inside " + described(*around));
  }
  return offenders.refuse("Landlock opens a directory with all that is in it");
}

Result<void> refuse_other_names(const Places& places, const Regions& open,
                                const std::vector<const Place*>& grants,
                                const std::vector<loom::MountFact>& mounts) {
  const loom::MountNames names(mounts);
  Offenders offenders;
  for (const Place& path : places.hidden) {
    for (const loom::OtherName& name : names.of(path.real)) {
      const bool opened = open.at_or_above(name.path) != nullptr ||
                          std::any_of(grants.begin(), grants.end(), [&name](const Place* place) {
                            return place->real.is_within(name.path);
                          });
      if (!opened) continue;
      offenders.add(described(path) + " is shown once more at " +
                    loom::escaped(name.path.str(), 512) + ", which is granted");
    }
  }
  return offenders.refuse({});
}

Result<void> refuse_reading_inside(const std::vector<const Place*>& grants) {
  Regions writable;
  for (const Place* const place : grants) {
    if (is_writable(*place)) writable.insert(*place);
  }
  Offenders offenders;
  for (const Place* const place : grants) {
    if (is_writable(*place) || place->role == PathRole::kSystemRoot) continue;
    // At the same place a writable root is more than a readable one, and less than a mount.
    const bool mount = place->role == PathRole::kMount;
    const Place* const around =
        mount ? writable.at_or_above(place->real) : writable.above(place->real);
    if (around == nullptr) continue;
    offenders.add((mount ? "read-only " : "") + described(*place) + " lies inside " +
                  described(*around));
  }
  return offenders.refuse("Landlock cannot make a part of a writable directory read-only");
}

// The whole host is not granted without its devices, and those include disks and terminals.
Result<void> refuse_closed_places(const std::vector<const Place*>& grants) {
  Offenders offenders;
  for (const Place* const place : grants) {
    if (place->role == PathRole::kSystemRoot) continue;
    for (const std::string_view closed : kClosedPlaces) {
      const AbsolutePath region = known_path(closed);
      if (!place->real.is_within(region) && !region.is_within(place->real)) continue;
      offenders.add(described(*place) + " would open the host's " + std::string(closed));
    }
  }
  return offenders.refuse({});
}

// The file systems that are the host's devices and processes, whatever place they are shown at. One
// that the system's own programs lie on is none of them: a /dev may be a directory of the root's.
std::set<std::uint64_t> closed_devices(const Places& places) {
  std::set<std::uint64_t> closed;
  for (const Place& place : places.grants) {
    if (place.is_missing()) continue;
    if (place.device || place.written == known_path("/proc")) closed.insert(place.identity.device);
  }
  for (const Place& place : places.grants) {
    const bool ordinary = place.role == PathRole::kSystemRoot && !place.device &&
                          place.written != known_path("/proc");
    if (ordinary) closed.erase(place.identity.device);
  }
  return closed;
}

Result<void> refuse_closed_devices(const Places& places, const std::vector<const Place*>& grants) {
  const std::set<std::uint64_t> closed = closed_devices(places);
  Offenders offenders;
  for (const Place* const place : grants) {
    if (place->role == PathRole::kSystemRoot) continue;
    if (closed.count(place->identity.device) > 0) offenders.add(described(*place));
  }
  return offenders.refuse("a file system of the host's devices or processes, shown once more");
}

// A link that the command can replace leads wherever it likes the next time somebody looks.
Result<void> refuse_links(const Places& places, const std::vector<const Place*>& grants) {
  Regions writable;
  for (const Place* const place : grants) {
    if (is_writable(*place)) writable.insert(*place);
  }
  Offenders offenders;
  const auto judge = [&](const Place& place) {
    for (const loom::LinkFact& link : place.links) {
      if (writable.at_or_above(link.place.parent()) == nullptr) continue;
      offenders.add(described(place) + " is reached through the link " +
                    loom::escaped(link.place.str(), 512) + ", which the command can replace");
      return;
    }
  };
  for (const Place& place : places.grants) judge(place);
  for (const Place& place : places.hidden) judge(place);
  return offenders.refuse({});
}

// A mount is asked for by name, so it is not passed over in silence as a root is.
Result<void> refuse_hidden_mounts(const Places& places, const Regions& hidden) {
  Offenders offenders;
  for (const Place& place : places.grants) {
    if (place.role != PathRole::kMount && place.role != PathRole::kScratch) continue;
    const Place* const around = hidden.at_or_above(place.real);
    if (around != nullptr) offenders.add(described(place) + " lies inside " + described(*around));
  }
  if (places.private_scratch) {
    const Place* const around = hidden.at_or_above(*places.private_scratch);
    if (around != nullptr) offenders.add("the private scratch lies inside " + described(*around));
  }
  return offenders.refuse({});
}

}  // namespace

Result<void> refuse_request(const loom::PlanRequest& request, const KernelFacts& kernel) {
  if (request.command.argv.empty()) {
    return loom::fail(ErrorCode::kInvalidRequest, "the command is empty");
  }
  // Version 3 promises that what was judged is what is opened and executed, by mounts and rules of
  // its own kind; nothing of that is here.
  if (request.exec || request.policy.exec || request.policy.version > kVersion) {
    return unsupported(
        "confinement_unavailable: policies of version 3 need more than Landlock rules for paths");
  }
  if (request.policy.version != kVersion) {
    return unsupported("policy: version " + std::to_string(request.policy.version) +
                       " is not enforced by this backend");
  }
  if (request.policy.network.mode == loom::NetworkMode::kProxy) {
    return unsupported(
        "network proxy: there is no way to a proxy that leads nowhere else; ask for network off");
  }
  if (!request.keep_capabilities.empty()) {
    return unsupported("--keep-caps " + loom::escaped(request.keep_capabilities.front(), 64) +
                       ": this backend drops every capability");
  }
  if (request.policy.scratch.is_tmpfs() && !request.private_scratch) {
    return loom::fail(ErrorCode::kInvalidRequest, "the private scratch was not made");
  }
  return refuse_kernel(request, kernel);
}

Result<void> refuse_missing(const Places& places) {
  Offenders offenders;
  for (const Place& place : places.grants) {
    const bool needed = place.role == PathRole::kWritableRoot || place.role == PathRole::kScratch ||
                        (place.role == PathRole::kMount && place.required);
    if (!place.is_missing() || !needed) continue;
    offenders.add(std::string(loom::path_role_name(place.role)) + ": " +
                  loom::escaped(place.written.str(), 512) + " (" +
                  std::generic_category().message(place.error != 0 ? place.error : ENOENT) + ")");
  }
  return offenders.refuse({});
}

Result<void> refuse_unholdable(const Places& places, const std::vector<loom::MountFact>& mounts) {
  Regions hidden;
  for (const Place& path : places.hidden) hidden.insert(path);
  LOOM_TRY_VOID(refuse_hidden_mounts(places, hidden));
  const std::vector<const Place*> grants = opened(places, hidden);
  Regions open;
  for (const Place* const place : grants) open.insert(*place);
  LOOM_TRY_VOID(refuse_closed_places(grants));
  LOOM_TRY_VOID(refuse_closed_devices(places, grants));
  LOOM_TRY_VOID(refuse_masks_inside(places, open));
  LOOM_TRY_VOID(refuse_other_names(places, open, grants, mounts));
  LOOM_TRY_VOID(refuse_reading_inside(grants));
  return refuse_links(places, grants);
}

}  // namespace landlock
