#include "app/warm_grounds.h"

#include <algorithm>

namespace loom::app {
namespace {

// How many directories are in a directory is nothing to a jail; how many names a file has is.
bool same_object(const PathFact& before, const PathFact& now) {
  if (before.kind != PathKind::kDirectory || now.kind != PathKind::kDirectory) return before == now;
  PathFact counted_again = now;
  counted_again.link_count = before.link_count;
  return before == counted_again;
}

bool same_facts(const HostFacts& before, const HostFacts& now) {
  return std::equal(before.paths.begin(), before.paths.end(), now.paths.begin(), now.paths.end(),
                    same_object) &&
         before.directories == now.directories && before.mounts == now.mounts &&
         before.launcher == now.launcher && before.stage2 == now.stage2 &&
         before.ceilings == now.ceilings && before.descriptor_limit == now.descriptor_limit &&
         before.backend == now.backend;
}

bool same_launch(LaunchSpec& before, const LaunchSpec& now) {
  before.commit = now.commit;
  return before == now;
}

}  // namespace

Result<WarmGrounds> WarmGrounds::take(Session& session) {
  WarmGrounds grounds;
  LOOM_TRY_VOID(session.mounts());
  grounds.mount_readings_ = session.mount_readings();
  LOOM_TRY(grounds.state_, host::InheritedState::open());
  LOOM_TRY(grounds.inherited_, grounds.state_.now());
  return grounds;
}

Result<void> WarmGrounds::remember_jail(const host::MountTable& jail) {
  static_cast<void>(jail.has_changed());  // it has, while it was made
  LOOM_TRY(jail_, jail.text());
  return {};
}

const char* WarmGrounds::why_stale(Session& session, PreparedRun& before, const PreparedRun& now,
                                   const host::MountTable* jail) const {
  if (now.policy != before.policy) return "another policy";
  if (now.made || now.scratch || now.exec) return "a run that needs more than a jail";
  if (before.facts != now.facts && !same_facts(*before.facts, *now.facts))
    return "the host's files changed";
  if (!session.mounts() || session.mount_readings() != mount_readings_) {
    return "the host's mounts changed";
  }
  if (!same_launch(before.launch, now.launch)) return "another launch";
  const auto inherited = state_.now();
  if (!inherited || *inherited != inherited_) return "what a child inherits changed";
  if (!jail_) return nullptr;  // then nobody has looked at the jail yet, and the commit will
  if (jail != nullptr && !jail->has_changed()) return nullptr;
  const auto table = jail == nullptr ? Result<Bytes>(Bytes()) : jail->text();
  if (!table || *table != *jail_) return "the jail's mounts changed";
  return nullptr;
}

}  // namespace loom::app
