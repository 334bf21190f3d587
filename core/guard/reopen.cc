#include "guard/reopen.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "guard/file_system.h"
#include "guard/open_without_links.h"
#include "guard/system_error.h"

namespace loom::guard {
namespace {

tl::unexpected<Error> redirected(const AbsolutePath& path, const std::string& why) {
  return fail(ErrorCode::kDenied, "redirected: " + escaped(path.str()) + ' ' + why);
}

Result<UniqueFd> open_or_say_why(const AbsolutePath& real, int flags) {
  Opened found = open_without_links(real, flags);
  if (found.handle) return std::move(found.handle);
  if (found.error == ELOOP) return redirected(real, "is reached through a link now");
  if (found.error == ENOENT || found.error == ENOTDIR) {
    return redirected(real, "is not there any more");
  }
  return system_error("reopen " + escaped(real.str()), found.error);
}

}  // namespace

Result<UniqueFd> reopen(const AbsolutePath& real, const FileIdentity& frozen) {
  for (const int flags : {0, O_DIRECTORY}) {
    LOOM_TRY(UniqueFd handle, open_or_say_why(real, flags));
    struct stat about {};
    if (::fstat(handle.get(), &about) != 0) {
      return system_error("reopen " + escaped(real.str()), errno);
    }
    if (identity_of(about) == frozen) return handle;
    // O_PATH alone does not make an automounter mount; asking for a directory does.
    if (!S_ISDIR(about.st_mode)) break;
    if (file_system_of(handle.get()) != FileSystemKind::kAutomount) break;
  }
  return redirected(real, "is another object now");
}

}  // namespace loom::guard
