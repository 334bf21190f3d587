#include <loom/facts.h>
#include <loom/features.h>
#include <loom/plan.h>

#include <algorithm>

namespace loom {

const PathFact* HostFacts::find(const AbsolutePath& path) const noexcept {
  const auto found = std::find_if(paths.begin(), paths.end(),
                                  [&path](const PathFact& fact) { return fact.path == path; });
  return found == paths.end() ? nullptr : &*found;
}

std::string_view path_role_name(PathRole role) noexcept {
  switch (role) {
    case PathRole::kSystemRoot:
      return "system roots";
    case PathRole::kReadableRoot:
      return "readable_roots";
    case PathRole::kWritableRoot:
      return "writable_roots";
    case PathRole::kProtected:
      return "protected";
    case PathRole::kMount:
      return "mounts";
    case PathRole::kScratch:
      return "scratch";
    case PathRole::kPiece:
      return "platform";
  }
  return "paths";
}

std::string_view mount_class_name(MountClass mount_class) noexcept {
  switch (mount_class) {
    case MountClass::kRootTmpfs:
      return "root tmpfs";
    case MountClass::kExecShown:
      return "exec shown";
    case MountClass::kReadable:
      return "readable";
    case MountClass::kWritable:
      return "writable";
    case MountClass::kScratchTmpfs:
      return "scratch tmpfs";
    case MountClass::kProc:
      return "proc";
    case MountClass::kDev:
      return "dev";
    case MountClass::kProtected:
      return "protected";
    case MountClass::kMountReadWrite:
      return "mount rw";
    case MountClass::kMountReadOnly:
      return "mount ro";
    case MountClass::kPin:
      return "pin";
  }
  return "mount";
}

std::string_view exec_entry_kind_name(ExecEntryKind kind) noexcept {
  switch (kind) {
    case ExecEntryKind::kDirectory:
      return "dir";
    case ExecEntryKind::kFile:
      return "file";
    case ExecEntryKind::kName:
      return "name";
  }
  return "entry";
}

}  // namespace loom
