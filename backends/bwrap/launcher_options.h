#pragma once

#include <loom/absolute_path.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_facts.h"

namespace loom::bwrap {

// The words of bubblewrap's command line that depend on what trial launches showed (guard 5.2): a
// fallback where `facts` has a reason for one. The canonical form is that of LauncherFacts{}, which
// has no fallbacks.

// What a launch asks of its namespaces.
struct JailKind {
  bool cuts_network = false;
  bool hardened = false;  // a launch of version 3: no further user namespaces, a session of its own
};

// Everything before the view: the namespaces, and the end with the helper.
[[nodiscard]] std::vector<std::string_view> namespace_options(const LauncherFacts& facts,
                                                              const JailKind& kind);

// /proc: the jail's own, or (I6) the host's, read-only. bubblewrap would bind it writable, and then
// a uid 0 that is the host's could change the modes of what is not a process's own.
[[nodiscard]] std::span<const std::string_view> proc_options(const LauncherFacts& facts) noexcept;

// /dev: bubblewrap's own, or (I9) the same by hand, with the host's pseudo-terminals.
[[nodiscard]] std::span<const std::string_view> device_options(const LauncherFacts& facts) noexcept;

// Where a source is laid aside until the host is covered, by its number; and /dev/null. No host has
// such a name, so bubblewrap takes it only with an option that tolerates a missing source.
[[nodiscard]] std::string aside(int number);
inline constexpr std::string_view kAsideNull = "/../loom-exec-sources/null";

// A link of ours to a mount point, outside the jail that is being built. Its last component is that
// of the region, for bubblewrap's words when nothing is there.
struct LedPlace {
  std::string target;  // the mount point, as bubblewrap reaches it
  std::string place;   // for it to mount on
};
[[nodiscard]] LedPlace led_place(const AbsolutePath& region, std::size_t index);

// What is laid aside beside the sources, and then the cover: bubblewrap assembles the jail below
// /newroot and reaches the host below /oldroot, and every destination goes below the former. After
// this nothing of the host's can be reached but what is laid aside or shown; bubblewrap itself
// still finds its /proc/self/fd.
[[nodiscard]] std::span<const std::string_view> cover_options() noexcept;

// A directory that is empty, read-only and closed: it cannot be listed, and its mode not be
// changed.
[[nodiscard]] std::array<std::string_view, 6> closed_mask_options(std::string_view at) noexcept;

// bubblewrap's own root stays a writable, unbounded tmpfs unless told otherwise.
[[nodiscard]] std::span<const std::string_view> close_root_options() noexcept;

}  // namespace loom::bwrap
