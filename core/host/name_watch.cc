#include "host/name_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/errno_text.h"

namespace loom::host {
namespace {

constexpr std::uint32_t kEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_ADD;

tl::unexpected<Error> failed(const std::string& what, int error) {
  return fail(ErrorCode::kSystem, "watch " + what + ": " + errno_text(error), error);
}

}  // namespace

Result<NameWatch> NameWatch::open(const std::vector<AbsolutePath>& paths) {
  UniqueFd queue(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!queue) return failed("names", errno);
  NameWatch watch(std::move(queue));
  for (const AbsolutePath& path : paths) LOOM_TRY_VOID(watch.add(path));
  return watch;
}

Result<void> NameWatch::add(const AbsolutePath& path) {
  for (AbsolutePath at = path; !at.is_root(); at = at.parent()) {
    const std::string directory = at.parent().str();
    const int watch = ::inotify_add_watch(queue_.get(), directory.c_str(), kEvents);
    if (watch < 0 && (errno == ENOENT || errno == ENOTDIR)) continue;  // its maker is seen above
    if (watch < 0 && errno == EACCES) continue;  // nor could we see what lies in it
    if (watch < 0) return failed(directory, errno);
    names_[watch][std::string(at.name())].push_back(path);
  }
  return {};
}

void NameWatch::note(int watch, const std::string& name) {
  const auto directory = names_.find(watch);
  if (directory == names_.end()) return;
  const auto paths = directory->second.find(name);
  if (paths == directory->second.end()) return;
  changed_.insert(paths->second.begin(), paths->second.end());
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
        for (const auto& [watch, names] : names_) {
          for (const auto& [each, paths] : names) changed_.insert(paths.begin(), paths.end());
        }
      } else if (event.len > 0) {
        note(event.wd, name);
      }
    }
  }
}

}  // namespace loom::host
