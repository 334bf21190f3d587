#include "guard/doubtful_file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

struct Doubtful {
  std::uint32_t magic;
  std::string_view name;
};

// statfs(2) and <linux/magic.h>; fuse and lustre have their numbers in their own sources.
constexpr std::array<Doubtful, 11> kDoubtful = {{
    {V9FS_MAGIC, "9p"},
    {0x65735546, "fuse"},
    {NFS_SUPER_MAGIC, "nfs"},
    {SMB_SUPER_MAGIC, "smb"},
    {SMB2_SUPER_MAGIC, "smb"},
    {CIFS_SUPER_MAGIC, "smb"},
    {AFS_SUPER_MAGIC, "afs"},
    {AFS_FS_MAGIC, "afs"},
    {CODA_SUPER_MAGIC, "coda"},
    {CEPH_SUPER_MAGIC, "ceph"},
    {0x0BD00BD0, "lustre"},
}};

}  // namespace

std::optional<std::string_view> doubtful_file_system(int handle) noexcept {
  struct statfs about {};
  if (uninterrupted([&] { return ::fstatfs(handle, &about); }) != 0) return std::nullopt;
  const auto magic = static_cast<std::uint32_t>(about.f_type);
  const auto* const found = std::find_if(kDoubtful.begin(), kDoubtful.end(),
                                         [&](const Doubtful& each) { return each.magic == magic; });
  return found == kDoubtful.end() ? std::nullopt : std::optional(found->name);
}

}  // namespace loom::guard
