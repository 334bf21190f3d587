#include "host/control_group_base.h"

#include <loom/utf8.h>

#include <cstdlib>
#include <memory>

#include "host/control_group_checks.h"

namespace loom::host {

namespace {

// systemd's Delegate=yes alone leaves the service inside the group it delegates, which is then not
// free of processes; DelegateSubgroup= is of version 254.
constexpr const char* kHint =
    "; name an empty delegated directory by --cgroup-base or LOOM_CGROUP_BASE (systemd: "
    "Delegate=yes"
    " with DelegateSubgroup=, or move the service into a child group first)";

ControlGroupBase none(const std::string& objection) {
  return ControlGroupBase{.path = {}, .reason = objection + kHint};
}

// Links resolved: which directory is above which is then a matter of text.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

ControlGroupBase detect_configured(const std::string& configured,
                                   const ControlGroupPlaces& places) {
  if (!configured.starts_with('/')) return none(escaped(configured) + ": not an absolute path");
  if (auto objection = file_system_objection(configured); !objection.empty()) {
    return none(objection);
  }
  const std::string base = real_path(configured);
  if (auto objection = interface_objection(base, base == places.mount); !objection.empty()) {
    return none(objection);
  }
  if (auto objection = reach_objection(base, places); !objection.empty()) return none(objection);
  return ControlGroupBase{.path = base, .reason = {}};
}

ControlGroupBase detect_own(const ControlGroupPlaces& places) {
  if (auto objection = file_system_objection(places.mount); !objection.empty()) {
    return none(objection);
  }
  if (auto objection = controllers_objection(places.mount); !objection.empty()) {
    return none(objection);
  }
  const auto own = read_own_control_group(places.own);
  if (!own) return none(own.error().message);
  const std::string base = places.mount + *own;
  // A group outside this cgroup namespace is written with "..", and may lead anywhere.
  if (auto objection = file_system_objection(base); !objection.empty()) return none(objection);
  if (auto objection = interface_objection(base, own->empty()); !objection.empty()) {
    return none(objection);
  }
  return ControlGroupBase{.path = base, .reason = {}};
}

}  // namespace

ControlGroupBase detect_control_group_base(const std::string& configured,
                                           const ControlGroupPlaces& places) {
  return configured.empty() ? detect_own(places) : detect_configured(configured, places);
}

}  // namespace loom::host
