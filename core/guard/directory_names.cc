#include "guard/directory_names.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <memory>

#include "guard/file_system.h"

namespace loom::guard {

UniqueFd open_for_listing(int directory) noexcept {
  return UniqueFd(uninterrupted([directory] {
    return ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }));
}

int each_name(int listing, const std::function<bool(std::string_view, EntryType)>& tell) {
  UniqueFd own(::fcntl(listing, F_DUPFD_CLOEXEC, 0));
  if (!own) return errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
  if (!stream) return errno;
  static_cast<void>(own.release());  // the stream closes it
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) return errno;
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !tell(name, entry->d_type)) return 0;
  }
}

bool is_out_of_resources(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

}  // namespace loom::guard
