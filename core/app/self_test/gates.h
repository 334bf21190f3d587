#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loom::app {

// Why no probe is run at all. That is neither a pass nor a skip.
struct NotRun {
  std::string reason;  // of the NOT RUN line
  std::string remark;  // under the summary heading
  std::string result;  // what follows "RESULT: "
  friend bool operator==(const NotRun&, const NotRun&) = default;
};

// Whether a jail was built for this system. `os` as in HostFacts: "linux", "darwin", "windows", …
// `backend_has_jail`: false for one that lists platform-unsupported, which counts as such a
// platform on every system.
[[nodiscard]] std::optional<NotRun> platform_gate(std::string_view os, bool backend_has_jail);

// What a plain process of ours is told when it makes a user namespace and mounts in it.
enum class NamespaceAnswer : std::uint8_t {
  kMade,
  kRefusedByFilter,  // of system calls, inherited
  kRefusedByDomain,  // made, but a Landlock domain lets nobody mount in it
  kRefusedOtherwise,
};

// The word that --probe-namespace prints first.
[[nodiscard]] std::string_view namespace_token(NamespaceAnswer answer) noexcept;
[[nodiscard]] NamespaceAnswer parse_namespace_token(std::string_view output);

// One attempt to run something in a jail, before any probe.
struct LaunchTrial {
  bool launcher_installed = false;
  bool jailed = false;    // the report of the run claims the launcher's jail
  std::string problem{};  // why it did not run, or not there
  NamespaceAnswer namespaces = NamespaceAnswer::kMade;  // of Linux
  bool already_profiled = false;                        // of macOS: the refusal says so
};

// Whether `problem`, why a run did not start, is the backend's refusal to run inside a profile.
[[nodiscard]] bool says_already_profiled(std::string_view problem) noexcept;

// Whether this process lives in a jail of our own kind, where no other can be made.
[[nodiscard]] std::optional<NotRun> nested_gate(const LaunchTrial& trial);

// What became of the first probe directory. `error`: errno, or 0. Only a refused permission keeps
// the probes from running; they report anything else themselves.
[[nodiscard]] std::optional<NotRun> root_gate(int error, std::string_view place);

}  // namespace loom::app
