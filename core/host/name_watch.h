#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace loom::host {

// The kernel's queues, each for one NameWatch after the other. Closing one that had watches keeps
// the caller waiting for a millisecond, and at times for twenty, until no processor looks at a
// watch any more (fsnotify_wait_marks_destroyed, kernel 6.18); taking watches off does not.
class NameQueues {
 public:
  // Fails with kSystem where the user may have no more of them.
  [[nodiscard]] Result<UniqueFd> take();
  // Without watches, and read to its end.
  void give_back(UniqueFd queue);

 private:
  std::vector<UniqueFd> idle_;
};

// Notices when a name on the way to one of some paths is made, moved, exchanged or removed.
//
// Looking twice cannot tell that a name was another's in between; the kernel's word can
// (inotify(7)). Watches every existing directory of each path, the path itself by its name in the
// last of them. A link on the way is followed as the guard does (guard/walk.h). Meant for a moment:
// what changes often enough overflows the kernel's queue, and then every path counts as changed.
class NameWatch {
 public:
  // Fails with kSystem where the user has no watches left. `queues` outlives it.
  [[nodiscard]] static Result<NameWatch> open(const std::vector<AbsolutePath>& paths,
                                              NameQueues& queues);
  ~NameWatch();
  NameWatch(NameWatch&&) noexcept = default;
  NameWatch& operator=(NameWatch&& other) noexcept;
  NameWatch(const NameWatch&) = delete;
  NameWatch& operator=(const NameWatch&) = delete;

  // Whether these are the paths it was opened for, in that order.
  [[nodiscard]] bool watches(const std::vector<AbsolutePath>& paths) const {
    return paths == paths_;
  }
  // Paths whose name, or that of a directory above, was touched since open. Sorted. Does not wait.
  [[nodiscard]] std::set<AbsolutePath> changed();
  // Those of the paths of which nobody would tell: the kernel lets only those watch a directory who
  // may list it, and there is one on the way that our user may change and not list. (What only
  // others may change is not in any command's reach.)
  [[nodiscard]] std::set<AbsolutePath> unseen() const;
  // For poll(2): readable once something happened that changed() looks through.
  [[nodiscard]] int fd() const noexcept { return queue_.get(); }

 private:
  NameWatch(UniqueFd queue, NameQueues& queues) : queue_(std::move(queue)), queues_(&queues) {}
  struct Watched {
    int watch = -1;
    int error = 0;
    bool writable = false;  // asked where there is no watch
  };
  using Directories = std::map<AbsolutePath, Watched>;

  // `last`: the directory of the path before, or the end of directories_.
  [[nodiscard]] Result<void> add(const AbsolutePath& path, Directories::iterator& last);
  [[nodiscard]] Result<void> add_way(const AbsolutePath& directory);
  [[nodiscard]] Result<void> add_name(const AbsolutePath& at, const Watched& directory);
  [[nodiscard]] Directories::iterator watched_directory(const AbsolutePath& path);
  [[nodiscard]] Watched watch_directory(const AbsolutePath& path) const;
  void note(int watch, const std::string& name);

  UniqueFd queue_;
  NameQueues* queues_;
  Directories directories_;
  std::vector<AbsolutePath> paths_;
  std::set<AbsolutePath> met_;        // what lies above these
  std::vector<AbsolutePath> unseen_;  // names that lie in such a directory
  // A directory's watch and a name in it: which of those that is, by every way that leads there.
  std::map<int, std::map<std::string, std::vector<AbsolutePath>>> names_;
  std::set<AbsolutePath> changed_;
};

}  // namespace loom::host
