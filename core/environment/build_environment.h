#pragma once

#include <loom/absolute_path.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

// The floor of every PATH; neither looked at nor excluded.
inline constexpr std::string_view kPathFloor[] = {"/usr/local/bin", "/usr/bin", "/bin"};

// The directories that could stand in the command's PATH, cleaned, in order, without repetition,
// before anyone looked whether they are directories: the requested PATH first, then the helper's
// own; absolute entries only, none inside `excluded`. The floor is not among them.
[[nodiscard]] std::vector<AbsolutePath> path_candidates(std::string_view requested,
                                                        std::string_view inherited,
                                                        const std::vector<AbsolutePath>& excluded);

// Names and values as a process can be given them: no name is empty or holds '=', nothing holds a
// NUL. decode_exec_start and the command line refuse anything else by name; build_environment
// leaves such an entry out, because "A=B=c" would set a variable that nobody allowed.
struct EnvironmentRequest {
  std::map<std::string, std::string> requested;  // what the caller asked for
  std::vector<std::string> allow;                // the policy's env_allow: names, verbatim
  std::vector<AbsolutePath> path_directories;    // the candidates that are directories now
  std::optional<std::string> scratch_dir;        // LOOM_SCRATCH_DIR; nullopt: left out
  // The whole PATH, floor included, where its form is another than POSIX has it (Windows); then
  // path_directories are not looked at.
  std::optional<std::string> path{};
};

// NAME=VALUE, sorted by name; exactly what the command sees (docs/jail.md, "Environment"). Only
// names in `allow`. PATH, where allowed, is there even if nobody asked for it: path_directories,
// then what is missing of the floor. LOOM_SCRATCH_DIR is never the caller's word. No PWD is added
// (D19).
[[nodiscard]] std::vector<std::string> build_environment(const EnvironmentRequest& request);

// Takes the variables out that make a dynamic linker run code nobody judged, whatever env_allow
// lists: LD_*, DYLD_*, GLIBC_TUNABLES. Gives their names, in order. For launches whose exec table
// is restrictive.
std::vector<std::string> scrub_loader_variables(std::vector<std::string>& environment);

}  // namespace loom
