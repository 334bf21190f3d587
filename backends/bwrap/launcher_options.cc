#include "launcher_options.h"

namespace loom::bwrap {
namespace {

constexpr std::array<std::string_view, 2> kOwnProc = {"--proc", "/proc"};
constexpr std::array<std::string_view, 3> kHostProc = {"--ro-bind", "/proc", "/proc"};

constexpr std::array<std::string_view, 2> kOwnDevices = {"--dev", "/dev"};
// What bubblewrap puts there, but for /dev/console and a devpts of its own. A device that the host
// does not have either is passed over, except those that no ordinary program can do without.
constexpr auto kDevicesByHand =
    std::to_array<std::string_view>({"--tmpfs",         "/dev",
                                     "--dev-bind",      "/dev/null",
                                     "/dev/null",       "--dev-bind",
                                     "/dev/zero",       "/dev/zero",
                                     "--dev-bind",      "/dev/full",
                                     "/dev/full",       "--dev-bind",
                                     "/dev/random",     "/dev/random",
                                     "--dev-bind",      "/dev/urandom",
                                     "/dev/urandom",    "--dev-bind-try",
                                     "/dev/tty",        "/dev/tty",
                                     "--dev-bind-try",  "/dev/pts",
                                     "/dev/pts",        "--symlink",
                                     "pts/ptmx",        "/dev/ptmx",
                                     "--symlink",       "/proc/self/fd",
                                     "/dev/fd",         "--symlink",
                                     "/proc/self/fd/0", "/dev/stdin",
                                     "--symlink",       "/proc/self/fd/1",
                                     "/dev/stdout",     "--symlink",
                                     "/proc/self/fd/2", "/dev/stderr",
                                     "--perms",         "1777",
                                     "--tmpfs",         "/dev/shm"});

constexpr auto kCover = std::to_array<std::string_view>(
    {"--ro-bind", "/dev/null", kAsideNull, "--ro-bind", "/proc", "/../loom-exec-sources/proc",
     "--tmpfs", "/../oldroot", "--ro-bind-try", "/../loom-exec-sources/proc", "/../oldroot/proc"});

constexpr std::array<std::string_view, 2> kCloseRoot = {"--remount-ro", "/"};

}  // namespace

std::vector<std::string_view> namespace_options(const LauncherFacts& facts, const JailKind& kind) {
  std::vector<std::string_view> words = {"--die-with-parent"};
  // Without a process table of the jail's own, the process group is what ends it.
  if (kind.hardened && facts.no_pids.empty()) words.emplace_back("--new-session");
  const bool ban = kind.hardened && facts.no_userns_ban.empty();
  if (ban) words.insert(words.end(), {"--unshare-user", "--disable-userns"});
  if (facts.no_pids.empty()) words.emplace_back("--unshare-pid");
  words.insert(words.end(), {"--unshare-ipc", "--unshare-uts"});
  if (!ban) words.emplace_back("--unshare-user-try");
  if (facts.no_cgroup.empty()) words.emplace_back("--unshare-cgroup-try");
  if (kind.cuts_network) words.emplace_back("--unshare-net");
  return words;
}

std::span<const std::string_view> proc_options(const LauncherFacts& facts) noexcept {
  if (facts.no_pids.empty()) return kOwnProc;
  return kHostProc;
}

std::span<const std::string_view> device_options(const LauncherFacts& facts) noexcept {
  if (facts.no_devices.empty()) return kOwnDevices;
  return kDevicesByHand;
}

std::string aside(int number) { return "/../loom-exec-sources/" + std::to_string(number); }

LedPlace led_place(const AbsolutePath& region, std::size_t index) {
  return {
      .target = "/newroot" + region.str(),
      .place = "/../loom-exec-places/" + std::to_string(index) + "/" + std::string(region.name())};
}

std::span<const std::string_view> cover_options() noexcept { return kCover; }

std::array<std::string_view, 6> closed_mask_options(std::string_view at) noexcept {
  return {"--perms", "0000", "--tmpfs", at, "--remount-ro", at};
}

std::span<const std::string_view> close_root_options() noexcept { return kCloseRoot; }

}  // namespace loom::bwrap
