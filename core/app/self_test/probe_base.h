#pragma once

#include <loom/absolute_path.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <optional>
#include <string_view>
#include <vector>

namespace loom::app {

// Where probe directories could be made. All paths with their links followed.
struct BaseCandidates {
  std::string_view os;                  // as in HostFacts
  AbsolutePath temporary;               // TMPDIR, or /tmp
  std::optional<AbsolutePath> var_tmp;  // /var/tmp, where it exists
  // What every jail shows or covers by itself, besides its /tmp, /dev and /proc. A fixture there
  // would prove nothing.
  std::vector<AbsolutePath> system_roots;
};

// The feature tags of the layers that make a jail on a system: what keeps files apart, and what
// keeps the network out. `os` as in HostFacts. Pure.
struct JailTags {
  std::string_view file_system;
  std::string_view network;
  friend bool operator==(const JailTags&, const JailTags&) = default;
};
[[nodiscard]] JailTags jail_tags(std::string_view os) noexcept;

// The directory for probe directories: never below /tmp (on Linux), where the jail's own scratch
// would hide them. Fails when there is none; TMPDIR helps. Pure.
[[nodiscard]] Result<AbsolutePath> choose_probe_base(const BaseCandidates& candidates);

// What every probe starts from: `directory` writable, network off, 30 s, 1 MiB of output, PATH, a
// tmpfs scratch; nothing readable or protected. Pure.
[[nodiscard]] Policy base_policy(const AbsolutePath& directory);

}  // namespace loom::app
