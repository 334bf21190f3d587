#include "app/self_test/reachable_helper.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace loom::app {
namespace {

bool may_search(const AbsolutePath& directory) {
  struct stat info {};
  if (::stat(directory.str().c_str(), &info) != 0) return false;
  if (info.st_uid == ::geteuid()) return (info.st_mode & S_IXUSR) != 0;
  if (info.st_gid == ::getegid()) return (info.st_mode & S_IXGRP) != 0;
  return (info.st_mode & S_IXOTH) != 0;
}

}  // namespace

bool is_reachable_without_privilege(const AbsolutePath& path) {
  for (AbsolutePath at = path; !at.is_root(); at = at.parent()) {
    if (!may_search(at.parent())) return false;
  }
  return true;
}

Result<std::optional<ProbeDirectory>> make_helper_reachable(ProbeRig& rig) {
  if (is_reachable_without_privilege(rig.executable())) return std::optional<ProbeDirectory>();
  LOOM_TRY(ProbeDirectory place, rig.make_directory());
  const AbsolutePath copy = place.at(rig.executable().name());
  std::error_code error;
  std::filesystem::copy_file(rig.executable().str(), copy.str(), error);
  if (error) {
    return fail(ErrorCode::kSystem, "copy the helper to " + copy.str() + ": " + error.message(),
                error.value());
  }
  rig.set_executable(copy);
  return std::optional(std::move(place));
}

}  // namespace loom::app
