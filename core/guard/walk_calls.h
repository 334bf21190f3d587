#pragma once

#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "guard/file_system.h"

namespace loom::guard {

// What one lookup of a name gave: the object itself, a link's too, or the errno that says why not.
struct LookedUp {
  // Invalid without an error where the object is there, but this system gives no handle of it
  // without opening it in earnest: a device, a FIFO, a socket, and what this user may not enter,
  // read or run.
  UniqueFd handle{};
  struct stat about {};
  std::string stored{};  // the name as the directory spells it; empty: as it was asked for
  int error = 0;         // EAGAIN: at every try the name led to another object
};

// The system calls of a walk, which are another system's on another system. Everything that is
// decided about a name, a link or a race is decided in PathWalk, once for all of them.
class WalkCalls {
 public:
  WalkCalls(const WalkCalls&) = delete;
  WalkCalls& operator=(const WalkCalls&) = delete;
  WalkCalls(WalkCalls&&) = delete;
  WalkCalls& operator=(WalkCalls&&) = delete;

  [[nodiscard]] virtual LookedUp root() const = 0;
  // One component, which is neither ".." nor a path; never follows a link, never waits for a FIFO.
  [[nodiscard]] virtual LookedUp look_up(int directory, const std::string& name,
                                         bool enter_automounts) const = 0;
  // Of the object behind a handle.
  [[nodiscard]] virtual FileSystemKind file_system(int handle) const = 0;
  // The text of a link that look_up gave, into `text`: its size, or -1 with errno. EAGAIN: the name
  // is another object's by now.
  [[nodiscard]] virtual ssize_t read_link(int directory, const std::string& name,
                                          const LookedUp& link, char* text,
                                          std::size_t size) const = 0;
  // What a real path calls a name of the root that is no link.
  [[nodiscard]] virtual std::string name_in_root(const std::string& name) const { return name; }
  // Whether directories of the root may lie on a volume whose own name for them no real path has.
  [[nodiscard]] virtual bool has_firmlinks() const noexcept { return false; }

 protected:
  WalkCalls() = default;
  ~WalkCalls() = default;
};

// Those of the system that this was built for.
[[nodiscard]] const WalkCalls& system_walk_calls() noexcept;

}  // namespace loom::guard
