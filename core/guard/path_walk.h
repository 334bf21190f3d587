#pragma once

#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/file_system.h"
#include "guard/walk_calls.h"
#include "guard/walk_error.h"

namespace loom::guard {

// What becomes of a link that is the last component.
enum class LeafMode : std::uint8_t {
  kResolve,     // it is followed; a dangling one lands absent at its target
  kAsNamed,     // it is the object
  kRefuseLink,  // it is refused
};

struct WalkOptions {
  LeafMode leaf = LeafMode::kResolve;
  bool refuse_links = false;      // kLinkRefused instead of following any
  bool enter_automounts = false;  // for paths of a policy; may wait for the automounter
};

// Why the walk does not follow a link that lies in `directory`, on a file system of that kind;
// nullopt: it does. Security: the sticky rule is the kernel's own under fs.protected_symlinks
// (proc(5)), which following links by hand would sidestep.
[[nodiscard]] std::optional<WalkFailure> why_not_followed(const struct stat& link,
                                                          const struct stat& directory,
                                                          FileSystemKind kind) noexcept;

// One pass from the root through directory handles. The kernel is never asked to follow a link:
// a link is read and its text walked, so that between the first component and the last there is
// only one lookup of each name. Holds up to 256 descriptors while it lives.
//
// For the guard itself; callers have walk.h and freeze.h.
class PathWalk {
 public:
  struct Directory {
    std::string name;  // empty for the root
    UniqueFd handle;   // invalid where the system gives none to whoever may not search it
    struct stat about {};
  };

  explicit PathWalk(WalkOptions options, const WalkCalls& calls = system_walk_calls())
      : options_(options), calls_(&calls) {}

  // Once. Without an error the walk has landed: on the directory that is last in `stack`, on an
  // object that is none, or, when there is neither, on the absent `component` in the last
  // directory.
  [[nodiscard]] WalkResult<void> run(std::string_view path);

  [[nodiscard]] const WalkCalls& calls() const noexcept { return *calls_; }

  // From the root to where the walk is. After an error too; empty when not even that was entered.
  [[nodiscard]] std::vector<Directory>& stack() noexcept { return stack_; }
  [[nodiscard]] const std::vector<Directory>& stack() const noexcept { return stack_; }
  // What is not a directory and was landed on, and a handle of it where the system gives one
  // (LookedUp::handle).
  [[nodiscard]] bool landed_on_object() const noexcept { return object_found_; }
  [[nodiscard]] UniqueFd& object() noexcept { return object_; }
  [[nodiscard]] const struct stat& object_status() const noexcept { return object_status_; }
  [[nodiscard]] bool landed_on_directory() const noexcept { return !object_found_ && !absent_; }
  // The component that is not a directory in `stack`: of the object, of the absent leaf, or the one
  // that the walk failed at.
  [[nodiscard]] const std::string& component() const noexcept { return component_; }
  // What would have come after it, as text; empty after a landing.
  [[nodiscard]] std::string rest() const;
  [[nodiscard]] bool must_be_directory() const noexcept { return must_be_directory_; }
  // Every directory that was entered, in order, also those left again.
  [[nodiscard]] std::vector<FileIdentity>& passed() noexcept { return passed_; }
  [[nodiscard]] std::vector<LinkFact>& links() noexcept { return links_; }
  // For each of `links` the directories that it lies in, the root first.
  [[nodiscard]] std::vector<std::vector<FileIdentity>>& link_directories() noexcept {
    return link_directories_;
  }
  // Of the directory that the walk is in.
  [[nodiscard]] std::string real_text() const;

 private:
  [[nodiscard]] tl::unexpected<WalkError> failed(WalkFailure reason, int sys_errno = 0) const;
  [[nodiscard]] tl::unexpected<WalkError> lookup_failed(int error) const;
  [[nodiscard]] WalkResult<void> splice(std::string_view text);
  [[nodiscard]] WalkResult<void> enter_root();
  [[nodiscard]] WalkResult<void> step();
  [[nodiscard]] WalkResult<std::optional<LookedUp>> look_up();
  void spell_component(const LookedUp* found);
  [[nodiscard]] WalkResult<void> push(LookedUp found);
  void leave_data_volume();
  [[nodiscard]] WalkResult<void> meet_link(LookedUp link);
  [[nodiscard]] WalkResult<void> follow(const LookedUp& link);
  void land_on(LookedUp found);

  WalkOptions options_;
  const WalkCalls* calls_;
  std::vector<Directory> stack_;
  std::vector<std::string> pending_;  // components to go, the next one last
  std::size_t pending_bytes_ = 0;
  std::string component_;
  bool must_be_directory_ = false;
  bool absent_ = false;
  bool object_found_ = false;
  UniqueFd object_;
  struct stat object_status_ {};
  std::vector<FileIdentity> passed_;
  std::vector<LinkFact> links_;
  std::vector<std::vector<FileIdentity>> link_directories_;
};

}  // namespace loom::guard
