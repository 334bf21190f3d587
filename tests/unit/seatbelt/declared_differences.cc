#include "declared_differences.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "backends/bwrap/system_roots.h"

namespace loom::seatbelt::test {
namespace {

constexpr auto kMacView = std::to_array<std::string_view>(
    {"/System", "/System/Volumes/Preboot/Cryptexes", "/usr", "/bin", "/sbin", "/Library",
     "/private/etc", "/private/var/db", "/private/var/select", "/dev", "/opt/homebrew"});

template <class Names>
bool holds(const Names& names, std::string_view path) {
  return std::find(names.begin(), names.end(), path) != names.end();
}

bool related(const std::string& one, const std::string& other) {
  return lies_in(one, other) || lies_in(other, one);
}

bool is_there(const ModelTree& tree, const std::string& path) {
  return tree.walk(path).kind.has_value();
}

// Where the decision falls: at the object, and for a name also at the directory that holds it.
std::vector<std::string> deciding(const Landing& landing, Deed deed) {
  if (deed != Deed::kCreate && deed != Deed::kMove) return {landing.real};
  return {landing.real, parent_of(landing.real)};
}

// Where the root is a link, its target is what is shown.
bool is_system(const MountOperation& shown, std::span<const std::string_view> roots) {
  return shown.mount_class == MountClass::kReadable &&
         (holds(roots, shown.region.str()) || holds(roots, shown.written.str()));
}

// --- what one platform has and the other has not
// ---------------------------------------------------

bool system_view(const Difference& at) {
  const std::vector<std::string> linux = deciding(at.linux_landing, at.deed);
  const std::vector<std::string> mac = deciding(at.mac_landing, at.deed);
  for (std::size_t i = 0; i < linux.size(); ++i) {
    const bool on_linux = is_system(at.linux.shown(linux[i]), bwrap::kSystemRoots);
    if (on_linux != is_system(at.mac.shown(mac[i]), kMacView)) return true;
  }
  // What lies above one of its directories in something writable keeps its name.
  return at.on_linux && at.deed == Deed::kMove &&
         std::any_of(kMacView.begin(), kMacView.end(),
                     [&](std::string_view root) { return lies_in(root, at.mac_landing.real); });
}

// A table shows what nothing else does, and /System is shown on macOS without it.
bool volumes(const Difference& at) {
  const auto is_hidden = [&](const std::string& place) {
    return at.mac.shown(place).mount_class == MountClass::kRootTmpfs &&
           at.mac.shown(place).region.str() == "/System/Volumes";
  };
  const std::vector<std::string> linux = deciding(at.linux_landing, at.deed);
  return at.on_linux && is_hidden(at.mac_landing.real) &&
         std::any_of(linux.begin(), linux.end(), [&](const std::string& place) {
           return at.linux.shown(place).mount_class == MountClass::kExecShown;
         });
}

bool scratch(const Difference& at) {
  for (const std::string& place : deciding(at.linux_landing, at.deed)) {
    if (at.linux.shown(place).mount_class == MountClass::kScratchTmpfs) return true;
  }
  return lies_in(at.mac_landing.real, kPrivateScratch);
}

// What a policy mounts at such a directory, or in it, decides as on Linux.
bool is_mounted(const MountOperation& shown) {
  return shown.mount_class == MountClass::kMountReadOnly ||
         shown.mount_class == MountClass::kMountReadWrite;
}

bool user_directories(const Difference& at) {
  if (is_mounted(at.mac.shown(at.mac_landing.real))) return false;
  const auto lies = [&](const char* directory) {
    const std::string real = std::string("/private") + directory;
    if (is_mounted(at.mac.shown(real))) return false;
    // Nothing read-only is there, and so no name above is held for it.
    return lies_in(at.mac_landing.real, real) ||
           (at.deed == Deed::kMove && lies_in(real, at.mac_landing.real));
  };
  return !at.on_linux &&
         std::any_of(std::begin(kUserDirectories), std::end(kUserDirectories), lies);
}

bool own_devices(const Difference& at) {
  const MountClass shown = at.linux.shown(at.linux_landing.real).mount_class;
  return shown == MountClass::kProc || shown == MountClass::kDev;
}

bool stage2(const Difference& at) {
  return at.mac_landing.real == kStage2 || at.mac_landing.real == kStage2Link;
}

bool root_listing(const Difference& at) {
  return !at.on_linux && at.deed == Deed::kRead && at.mac_landing.real == "/";
}

bool goes_through(const Landing& landing, std::string_view link) {
  return std::any_of(landing.links.begin(), landing.links.end(),
                     [&](const LinkFact& met) { return met.place.str() == link; });
}

// On a Mac /tmp, /var and /etc are links, on Linux /bin and /lib are: so the name can be moved on
// one only, and two names are one object.
bool system_links(const Difference& at) {
  constexpr auto kLinks = std::to_array<std::string_view>({"/tmp", "/var", "/etc", "/bin", "/lib"});
  if (at.deed == Deed::kMove && holds(kLinks, at.path)) return true;
  std::vector<std::string> names = policy_paths(at.one.policy);
  names.push_back(at.path);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Landing& landing = at.linux.tree().walk(name);
    return (goes_through(landing, "/bin") || goes_through(landing, "/lib")) &&
           related(landing.real, at.linux_landing.real);
  });
}

bool support(const Difference& at) {
  if (at.deed != Deed::kRun) return false;
  return at.linux.exec().supports(at.linux_landing.real) ||
         at.mac.exec().supports(at.mac_landing.real);
}

// --- names
// ----------------------------------------------------------------------------------------

// The volume finds an object that the very name does not lead to.
bool any_case(const Difference& at) {
  std::vector<std::string> names = policy_paths(at.one.policy);
  names.push_back(at.path);
  const ModelTree& tree = at.mac.tree();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::string real = tree.walk(name).real;
    return real != tree.walk_exactly(name).real &&
           related(folded_path(real), folded_path(at.mac_landing.real));
  });
}

// A rule for one name holds for another that a case-sensitive volume tells apart.
bool folds_together(const Policy& policy, const ModelTree& tree, const std::string& real) {
  std::vector<std::string> names = policy_paths(policy);
  const auto apart = [&](const std::string& place) {
    return !related(place, real) && related(folded_path(place), folded_path(real));
  };
  const auto differs = [&](const std::string& name) {
    const Landing& landing = tree.walk(name);
    return apart(name) || apart(landing.real) ||
           std::any_of(landing.links.begin(), landing.links.end(),
                       [&](const LinkFact& link) { return apart(link.place.str()); });
  };
  const auto named = [&](const ExecEntry& entry) {
    const std::string_view last = std::string_view(real).substr(real.rfind('/') + 1);
    return entry.kind == ExecEntryKind::kName && entry.value != last &&
           folded_path(entry.value) == folded_path(last);
  };
  if (std::any_of(names.begin(), names.end(), differs)) return true;
  return policy.exec && std::any_of(policy.exec->deny.begin(), policy.exec->deny.end(), named);
}

// The object that was reached, and the links on the way.
std::vector<std::string> met(const Landing& landing) {
  std::vector<std::string> places = {landing.real};
  for (const LinkFact& link : landing.links) places.push_back(link.place.str());
  return places;
}

bool folded_rules(const Difference& at) {
  const std::vector<std::string> places = met(at.mac_landing);
  return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
    return folds_together(at.one.policy, at.mac.tree(), place);
  });
}

// --- what is absent, what is a link
// ----------------------------------------------------------------

bool absent_readable(const Difference& at) {
  if (!at.on_linux || (at.deed != Deed::kCreate && at.deed != Deed::kMove)) return false;
  return std::any_of(at.one.policy.readable_roots.begin(), at.one.policy.readable_roots.end(),
                     [&](const AbsolutePath& root) {
                       const std::string real = at.mac.tree().walk(root.str()).real;
                       return !at.mac.tree().at(real) && related(real, at.mac_landing.real);
                     });
}

// A link on the way of a policy's path, or a directory above it.
bool pinned_link(const Difference& at) {
  if (!at.on_linux || at.deed != Deed::kMove) return false;
  const std::vector<std::string> names = policy_paths(at.one.policy);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Landing& landing = at.mac.tree().walk(name);
    return std::any_of(landing.links.begin(), landing.links.end(), [&](const LinkFact& link) {
      return lies_in(link.place.str(), at.mac_landing.real);
    });
  });
}

// A name that a rule of the profile is about, or one above, though a mount covers what it is about.
bool region_name(const Difference& at) {
  if (!at.on_linux || at.deed != Deed::kMove) return false;
  const Policy& policy = at.one.policy;
  const auto real = [&](const AbsolutePath& path) { return at.mac.tree().walk(path.str()).real; };
  const auto covered = [&](const std::string& region) {
    return std::any_of(policy.mounts.begin(), policy.mounts.end(), [&](const ExplicitMount& mount) {
      return mount.writable && lies_in(region, real(mount.path));
    });
  };
  std::vector<AbsolutePath> regions = policy.writable_roots;
  regions.insert(regions.end(), policy.readable_roots.begin(), policy.readable_roots.end());
  if (policy.scratch.host_path) regions.push_back(*policy.scratch.host_path);
  return std::any_of(regions.begin(), regions.end(), [&](const AbsolutePath& region) {
    return covered(real(region)) && lies_in(real(region), at.mac_landing.real);
  });
}

// Linux lets go of a directory above an excluded program: its rules are of objects (L15).
bool above_excluded(const Difference& at) {
  const auto& rules = at.mac.exec().rules;
  return at.on_linux && at.deed == Deed::kMove && rules &&
         std::any_of(rules->deny.begin(), rules->deny.end(), [&](const ExecRule& rule) {
           return rule.scope != ExecScope::kName && lies_in(rule.real.str(), at.mac_landing.real);
         });
}

bool null_device(const Difference& at) {
  return !at.on_linux && at.deed == Deed::kWrite && at.mac_landing.real == "/dev/null";
}

// A link that a policy's path goes through to something absent: Linux leaves the path out.
bool link_not_shown(const Difference& at) {
  const auto& links = at.linux_landing.links;
  return !at.on_linux && std::any_of(links.begin(), links.end(), [&](const LinkFact& link) {
    return !at.linux.shows_link(link.place.str());
  });
}

// What is no directory can be replaced under its name; what it then is called elsewhere is no
// longer writable.
bool writable_file(const Difference& at) {
  return !at.on_linux && at.deed == Deed::kMove && at.mac_landing.kind != NodeKind::kDirectory &&
         at.linux.is_mount_point(at.linux_landing.real) &&
         is_host_writable(at.mac.shown(at.mac_landing.real).mount_class);
}

// --- refusals
// -------------------------------------------------------------------------------------

bool says(const Refused& at, std::string_view part) {
  return at.why().find(part) != std::string::npos;
}

bool missing_source(const Refused& at) {
  const Policy& policy = at.one.policy;
  const auto missing = [&](const AbsolutePath& root) {
    return !is_there(at.linux.tree(), root.str());
  };
  return at.on_linux() && (says(at, "writable_roots: ") || says(at, "scratch: ")) &&
         (std::any_of(policy.writable_roots.begin(), policy.writable_roots.end(), missing) ||
          (policy.scratch.host_path && missing(*policy.scratch.host_path)));
}

bool lacks_protected(const Refused& at) {
  const auto& hidden = at.one.policy.protected_paths;
  return std::any_of(hidden.begin(), hidden.end(), [&](const AbsolutePath& path) {
    return !is_there(at.linux.tree(), path.str());
  });
}

bool unmountable(const Refused& at) {
  return at.on_linux() && says(at, "nothing can be mounted there") && lacks_protected(at);
}

bool through_a_file(const Refused& at) {
  return at.on_linux() && says(at, "the command could make it one") && lacks_protected(at);
}

bool replaceable_link(const Refused& at) {
  const std::vector<std::string> names = policy_paths(at.one.policy);
  return at.on_linux() && says(at, "which the command can replace") &&
         std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           const Landing& landing = at.linux.tree().walk(name);
           return !landing.kind && !landing.links.empty();
         });
}

bool own_places(const Refused& at) {
  const std::vector<std::string> names = policy_paths(at.one.policy);
  return at.on_linux() && (says(at, "/proc") || says(at, "/dev")) &&
         std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           const std::string real = at.linux.tree().walk(name).real;
           return related(real, "/proc") || real == "/dev";
         });
}

bool hides_stage2(const Refused& at) {
  const auto& hidden = at.one.policy.protected_paths;
  return !at.on_linux() && says(at, "has to start with") &&
         std::any_of(hidden.begin(), hidden.end(), [&](const AbsolutePath& path) {
           return lies_in(kStage2, at.mac.tree().walk(path.str()).real);
         });
}

// A path leads elsewhere there: over the platform's own links, or to an object of another spelling.
bool leads_elsewhere(const Refused& at) {
  const std::vector<std::string> names = policy_paths(at.one.policy);
  return (says(at, "which lies in a") || says(at, "mounts: ")) &&
         std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           const Landing& linux = at.linux.tree().walk(name);
           const Landing& mac = at.mac.tree().walk(name);
           return linux.real != mac.real || linux.kind != mac.kind;
         });
}

// --- details of a profile
// ---------------------------------------------------------------------------

bool detail_root(const Detail& at) {
  return at.operation == Operation::kReadData && at.real == "/" && at.answer == Answer::kAllowed;
}

bool detail_null(const Detail& at) {
  return at.operation == Operation::kWriteData && at.real == "/dev/null" &&
         at.answer != Answer::kDenied;
}

bool detail_folded(const Detail& at) {
  return folds_together(at.one.policy, at.mac.tree(), at.real);
}

// Realpath asks for the metadata of whatever is above a region, and of the links on the way.
bool detail_metadata(const Detail& at) {
  if (at.operation != Operation::kReadMetadata || at.answer != Answer::kAllowed) return false;
  const auto lies_here = [&](std::string_view place) { return lies_in(place, at.real); };
  const auto leads_through = [&](const AbsolutePath& path) {
    const Landing& landing = at.mac.tree().walk(path.str());
    return lies_here(path.str()) || lies_here(landing.real) ||
           std::any_of(landing.links.begin(), landing.links.end(),
                       [&](const LinkFact& link) { return lies_here(link.place.str()); });
  };
  const Policy& policy = at.one.policy;
  const auto any = [&](const std::vector<AbsolutePath>& paths) {
    return std::any_of(paths.begin(), paths.end(), leads_through);
  };
  const auto& rules = at.mac.exec().rules;
  return std::any_of(kMacView.begin(), kMacView.end(), lies_here) || lies_here(kStage2) ||
         lies_here("/private/var/folders/u/T") || lies_here(kPrivateScratch) ||
         any(policy.readable_roots) || any(policy.writable_roots) ||
         (policy.scratch.host_path && leads_through(*policy.scratch.host_path)) ||
         std::any_of(policy.mounts.begin(), policy.mounts.end(),
                     [&](const ExplicitMount& mount) { return leads_through(mount.path); }) ||
         (rules && std::any_of(rules->allow.begin(), rules->allow.end(),
                               [&](const ExecRule& rule) { return lies_here(rule.real.str()); }));
}

// Nothing is put above what is absent and must stay so. The view knows only of what is there.
bool detail_kept_absent(const Detail& at) {
  if (at.operation != Operation::kWriteCreate || at.answer != Answer::kDenied) return false;
  const ModelTree& tree = at.mac.tree();
  const auto lies_above = [&](const std::string& path) {
    return (path != at.real && lies_in(path, at.real)) ||
           (tree.walk(path).real != at.real && lies_in(tree.walk(path).real, at.real));
  };
  const std::vector<std::string> names = policy_paths(at.one.policy);
  return std::any_of(names.begin(), names.end(), lies_above) ||
         std::any_of(std::begin(kMacView), std::end(kMacView),
                     [&](std::string_view root) { return lies_above(std::string(root)); }) ||
         lies_above(kStage2) || lies_above(kStage2Link);
}

constexpr auto kDifferences = std::to_array<Declared>({
    {"support", "what may start besides the table's programs is the platform's", support},
    {"system-links", "/tmp, /var and /etc are links on macOS, /bin and /lib on Linux",
     system_links},
    {"system-view", "each platform shows its own system, read-only", system_view},
    {"volumes", "a table that allows /System does not show its volumes on macOS", volumes},
    {"scratch", "a private scratch is /tmp on Linux, a directory of its own on macOS", scratch},
    {"user-directories", "on macOS every run writes the user's temporary and cache directory",
     user_directories},
    {"own-devices", "/proc and /dev are the jail's own on Linux", own_devices},
    {"stage-2", "stage 2 is a file that the jail can read on macOS", stage2},
    {"root-listing", "/ can be listed on macOS, or no shell starts", root_listing},
    {"any-case", "a macOS volume finds an object under every spelling of its name", any_case},
    {"folded-rules", "Seatbelt's rules hold for every spelling of a name (L12, L29)", folded_rules},
    {"absent-readable", "an absent readable root has no rule on Linux, and one on macOS",
     absent_readable},
    {"region-name", "a region keeps its name on macOS, also where a mount covers it", region_name},
    {"above-excluded", "macOS keeps the names above an excluded program, Linux does not (L15)",
     above_excluded},
    {"null-device", "/dev/null can be written on macOS whatever holds around it", null_device},
    {"link-not-shown", "Linux shows no link of a path that is left out", link_not_shown},
    {"writable-file", "a file that is a writable root can be replaced on macOS", writable_file},
    {"pinned-link", "a link that a policy's path goes through stays on macOS; Linux reports it",
     pinned_link},
});

constexpr auto kRefusals = std::to_array<DeclaredRefusal>({
    {"missing-source", "Linux binds what is writable, so it must exist", missing_source},
    {"unmountable", "Linux cannot mask an absent path where the jail is read-only", unmountable},
    {"through-a-file", "Linux cannot keep a path absent that goes through a file", through_a_file},
    {"replaceable-link", "Linux masks the target, not the name (D13)", replaceable_link},
    {"own-places", "/proc and /dev are the jail's own on Linux", own_places},
    {"hides-stage-2", "stage 2 is a file that the jail can read on macOS", hides_stage2},
    {"leads-elsewhere", "the platform's links and spellings lead elsewhere", leads_elsewhere},
});

constexpr auto kDetails = std::to_array<DeclaredDetail>({
    {"root-listing", "/ itself can be listed", detail_root},
    {"ancestor-metadata", "what lies above a region can be looked at, not read", detail_metadata},
    {"null-device", "/dev/null can be written whatever holds around it", detail_null},
    {"folded-rules", "the view compares names as they are stored", detail_folded},
    {"kept-absent", "a name above what is to stay absent or read-only cannot be made",
     detail_kept_absent},
});

}  // namespace

std::span<const Declared> declared_differences() { return kDifferences; }
std::span<const DeclaredRefusal> declared_refusals() { return kRefusals; }
std::span<const DeclaredDetail> declared_details() { return kDetails; }

std::vector<std::string> policy_paths(const Policy& policy) {
  std::vector<std::string> paths;
  for (const auto* list :
       {&policy.readable_roots, &policy.writable_roots, &policy.protected_paths}) {
    for (const AbsolutePath& path : *list) paths.push_back(path.str());
  }
  for (const ExplicitMount& mount : policy.mounts) paths.push_back(mount.path.str());
  if (policy.scratch.host_path) paths.push_back(policy.scratch.host_path->str());
  if (policy.exec) {
    for (const auto* list : {&policy.exec->allow, &policy.exec->deny}) {
      for (const ExecEntry& entry : *list) {
        if (entry.kind != ExecEntryKind::kName) paths.push_back(entry.value);
      }
    }
  }
  return paths;
}

}  // namespace loom::seatbelt::test
