#include "host/name_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "guard/open_without_links.h"
#include "guard/walk.h"
#include "host/errno_text.h"

namespace loom::host {
namespace {

constexpr std::uint32_t kEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_MASK_ADD;

tl::unexpected<Error> failed(const std::string& what, int error) {
  return fail(ErrorCode::kSystem, "watch " + what + ": " + errno_text(error), error);
}

// Few names lead through a link: what a system root that is one shows.
guard::Opened open_directory(const AbsolutePath& path) {
  guard::Opened opened = guard::open_without_links(path, O_DIRECTORY);
  if (opened.error != ELOOP) return opened;
  const auto landing = guard::walk(path.str() + '/');
  if (!landing) return {.handle = {}, .error = landing.error().sys_errno};
  auto handle = landing->mount_source();
  if (!handle) return {.handle = {}, .error = handle.error().sys_errno};
  return {.handle = std::move(*handle), .error = 0};
}

// Whether this user namespace has a number of its own for every user.
bool tells_users_apart() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  map >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == ~std::uint32_t{0};
}

// Whose number the namespace does not know is shown as kOverflowUid, which may be ours as well.
bool is_owned(int directory) {
  constexpr uid_t kOverflowUid = 65'534;  // the kernel's default, and nobody's
  struct stat about {};
  if (::fstat(directory, &about) != 0) return true;
  if (about.st_uid != ::geteuid()) return false;
  return about.st_uid != kOverflowUid || tells_users_apart();
}

}  // namespace

Result<UniqueFd> NameQueues::take() {
  if (!idle_.empty()) {
    UniqueFd queue = std::move(idle_.back());
    idle_.pop_back();
    return queue;
  }
  UniqueFd queue(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!queue) return failed("names", errno);
  return queue;
}

void NameQueues::give_back(UniqueFd queue) {
  // A jail that waits gives its own back before a run takes one; and a user may have 128 in all.
  constexpr std::size_t kMaxIdle = 1;
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(queue));
}

Result<NameWatch> NameWatch::open(const std::vector<AbsolutePath>& paths, NameQueues& queues) {
  LOOM_TRY(UniqueFd queue, queues.take());
  NameWatch watch(std::move(queue), queues);
  auto last = watch.directories_.end();
  for (const AbsolutePath& path : paths) LOOM_TRY_VOID(watch.add(path, last));
  return watch;
}

// What is still in the queue, or comes with the end of a watch, is nobody's.
NameWatch::~NameWatch() {
  if (!queue_) return;
  for (const auto& [path, directory] : directories_) {
    if (directory.watch >= 0) ::inotify_rm_watch(queue_.get(), directory.watch);
  }
  std::array<char, 16'384> buffer;
  while (::read(queue_.get(), buffer.data(), buffer.size()) > 0 || errno == EINTR) {
  }
  queues_->give_back(std::move(queue_));
}

NameWatch& NameWatch::operator=(NameWatch&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(queues_, other.queues_);
  std::swap(directories_, other.directories_);
  std::swap(paths_, other.paths_);
  std::swap(met_, other.met_);
  std::swap(unseen_, other.unseen_);
  std::swap(names_, other.names_);
  std::swap(changed_, other.changed_);
  return *this;
}

Result<void> NameWatch::add(const AbsolutePath& path, Directories::iterator& last) {
  paths_.push_back(path);
  if (path.is_root()) return {};
  const AbsolutePath above = path.parent();
  // Of many names nearly all lie beside the one before.
  if (last == directories_.end() || last->first != above) {
    LOOM_TRY_VOID(add_way(above));
    last = watched_directory(above);
  }
  return add_name(path, last->second);
}

Result<void> NameWatch::add_way(const AbsolutePath& directory) {
  std::vector<AbsolutePath> names;
  // Above a directory that was met before everything was.
  for (AbsolutePath at = directory; !at.is_root() && met_.insert(at).second; at = at.parent()) {
    names.push_back(at);
  }
  // From the root: a directory that is exchanged after it was opened is seen by its name.
  for (auto at = names.rbegin(); at != names.rend(); ++at) {
    LOOM_TRY_VOID(add_name(*at, watched_directory(at->parent())->second));
  }
  return {};
}

NameWatch::Directories::iterator NameWatch::watched_directory(const AbsolutePath& path) {
  const auto known = directories_.find(path);
  if (known != directories_.end()) return known;
  return directories_.emplace(path, watch_directory(path)).first;
}

Result<void> NameWatch::add_name(const AbsolutePath& at, const Watched& directory) {
  const int error = directory.error;
  if (error == ENOENT || error == ENOTDIR) return {};  // its maker is seen above
  if (error == EACCES) {
    if (directory.writable) unseen_.push_back(at);
    return {};
  }
  if (error != 0) return failed(at.parent().str(), error);
  names_[directory.watch][std::string(at.name())].push_back(at);
  return {};
}

std::set<AbsolutePath> NameWatch::unseen() const {
  std::set<AbsolutePath> found;
  for (const AbsolutePath& at : unseen_) {
    std::copy_if(paths_.begin(), paths_.end(), std::inserter(found, found.end()),
                 [&at](const AbsolutePath& path) { return path.is_within(at); });
  }
  return found;
}

// inotify knows names only, hence the one of a handle.
NameWatch::Watched NameWatch::watch_directory(const AbsolutePath& path) const {
  const guard::Opened opened = open_directory(path);
  if (!opened.handle) return {.error = opened.error != 0 ? opened.error : ELOOP};
  const std::string name = "/proc/self/fd/" + std::to_string(opened.handle.get());
  const int watch = ::inotify_add_watch(queue_.get(), name.c_str(), kEvents);
  if (watch >= 0) return {.watch = watch};
  const int error = errno;
  // An owner may change it whatever its mode says now.
  const bool owned = is_owned(opened.handle.get());
  const bool writable = ::faccessat(AT_FDCWD, name.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  return {.error = error, .writable = owned || writable};
}

void NameWatch::note(int watch, const std::string& name) {
  const auto directory = names_.find(watch);
  if (directory == names_.end()) return;
  const auto places = directory->second.find(name);
  if (places == directory->second.end()) return;
  for (const AbsolutePath& place : places->second) {
    std::copy_if(paths_.begin(), paths_.end(), std::inserter(changed_, changed_.end()),
                 [&place](const AbsolutePath& path) { return path.is_within(place); });
  }
}

std::set<AbsolutePath> NameWatch::changed() {
  alignas(inotify_event) std::array<char, 16'384> buffer;
  for (;;) {
    const ssize_t got = ::read(queue_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return changed_;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* const name = buffer.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changed_.insert(paths_.begin(), paths_.end());
      } else if (event.len > 0) {
        note(event.wd, name);
      }
    }
  }
}

}  // namespace loom::host
