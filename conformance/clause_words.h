#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace loom::conformance {

// How a report or an audit names what it does not hold: an entry that begins with "skip:" or
// "unheld:" and has one of these words, or the path itself, in it (docs/conformance.md 4).
using Words = std::vector<std::string_view>;

namespace words {
inline const Words kProtected = {"protected"};
inline const Words kWritable = {"writable", "filesystem view"};
inline const Words kReadable = {"readable", "filesystem view", "minimal view"};
inline const Words kView = {"filesystem view", "minimal view", "readable roots"};
inline const Words kMounts = {"mount", "filesystem view"};
inline const Words kScratch = {"scratch"};
inline const Words kNetwork = {"network", "seccomp"};
inline const Words kProxy = {"proxy"};
inline const Words kCpu = {"cpu"};
inline const Words kFileSize = {"file-size", "fsize"};
inline const Words kMemory = {"memory"};
inline const Words kProcesses = {"process ceiling", "pids"};
// Nothing outlives a run: a platform without a jail says only that it has none.
inline const Words kProcessesEnd = {"namespaces", "unheld:processes", "skip:jail"};
inline const Words kExec = {"exec-landlock", "confinement_unavailable"};
// The tags under which a report counts what became of a policy's paths.
inline const Words kFilesClaims = {"mounts", "seatbelt-fs", "landlock-fs"};
inline const Words kUnixSockets = {"unix-path", "unix sockets", "seccomp"};
}  // namespace words

// The entry of `entries` that names one of `words` or `path` as not held; empty when none does.
[[nodiscard]] std::string entry_that_names(const std::vector<std::string>& entries,
                                           const Words& words, std::string_view path = {});

// An applied entry's tag: "landlock" of "landlock:abi=7"; empty for a skip or an unheld.
[[nodiscard]] std::string_view applied_tag(std::string_view entry);
// The applied entry with one of these tags; empty when there is none.
[[nodiscard]] std::string entry_that_claims(const std::vector<std::string>& entries,
                                            const Words& tags);

}  // namespace loom::conformance
