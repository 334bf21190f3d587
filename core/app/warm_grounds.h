#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>

#include "app/prepare_run.h"
#include "app/session.h"
#include "host/inherited_state.h"
#include "host/mount_table.h"

namespace loom::app {

// What a jail was made by that nobody has asked for yet, and whether that still holds
// (docs/jail.md, "Warm jails").
//
// Holds no handle of anything that the plan looked at: it would keep a file system from being
// unmounted. What the jail shows is held by its own mounts, so that no other object gets the number
// of such an inode; a mask that an unlink took off its object is gone from its mount table.
class WarmGrounds {
 public:
  // Before the run is prepared: a mount that is made meanwhile counts as made later.
  [[nodiscard]] static Result<WarmGrounds> take(Session& session);

  // The jail as stage 2 found it: what its mount table is to be at the commit.
  [[nodiscard]] Result<void> remember_jail(const host::MountTable& jail);

  // Null when a jail that was made for `before` serves `now` just as well; else the first reason
  // why it does not. The commit documents of the two launches are not compared; `before` gets that
  // of `now`. `jail`: its mount table, null where that could not be opened.
  [[nodiscard]] const char* why_stale(Session& session, PreparedRun& before, const PreparedRun& now,
                                      const host::MountTable* jail) const;

 private:
  std::uint64_t mount_readings_ = 0;
  host::InheritedState state_;
  Bytes inherited_;
  std::optional<Bytes> jail_;
};

}  // namespace loom::app
