#pragma once

#include <loom/facts.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom {

// What the forked child becomes.
enum class ImageKind : std::uint8_t {
  kLauncher,  // the pinned launcher of facts.launcher
  kStage2,    // the pinned stage 2 itself (no launcher on this machine)
  kCommand,   // the command, looked up by the host's child: a jail that claims nothing
};

// A memory file with these bytes, sealed, open in the child at `child_number`, offset 0.
struct MemoryFile {
  std::string role{};  // for messages: "launcher options", "stage-2 document"
  int child_number = -1;
  Bytes bytes{};
  friend bool operator==(const MemoryFile&, const MemoryFile&) = default;
};

// A descriptor of the host's, lent to the child: an own one for each entry.
struct LentHandle {
  enum class Role : std::uint8_t {
    kStage2,
    // O_PATH of the object at `path`, reached without following a link. The host refuses the start
    // when that is no longer the object of `identity`.
    kSource,
  };
  Role role = Role::kStage2;
  int child_number = -1;
  AbsolutePath path = AbsolutePath::root();  // kSource: the real path
  FileIdentity identity{};                   // kSource: what the plan was made for
  friend bool operator==(const LentHandle&, const LentHandle&) = default;
};

// A resource limit that the host's child sets itself, where there is no stage 2 to do it.
struct ChildLimit {
  enum class Resource : std::uint8_t { kCpuSeconds, kFileSize };
  Resource resource = Resource::kCpuSeconds;
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;
  std::string applied_entry{};  // what the report claims when it was set: "rlimit-cpu"
  friend bool operator==(const ChildLimit&, const ChildLimit&) = default;
};

// Ceilings of the whole run, held by a control group that the host makes and enters before the
// image runs; without one the run goes on and the report says so.
struct Ceilings {
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<std::uint64_t> pids{};  // processes and threads, the launcher's own included
  friend bool operator==(const Ceilings&, const Ceilings&) = default;
};

// A name that the run must find unchanged when it settles (D23).
struct WatchedPath {
  AbsolutePath path;        // real path on the host
  FileIdentity identity{};  // at the start; zero: whatever has the name is nothing to the jail
  bool masked = false;      // a mask hides it, so its mount must still be in the jail's table

  // Whether the name must lead to the object as long as the run lasts.
  [[nodiscard]] bool is_named() const noexcept { return identity != FileIdentity{}; }
  friend bool operator==(const WatchedPath&, const WatchedPath&) = default;
};

// Everything the host needs to start one run. Pure data; the host refuses to spawn any launch but
// the one that render gave it.
struct LaunchSpec {
  ImageKind image = ImageKind::kCommand;
  std::vector<std::string> argv{};         // of the image; argv[0] included
  std::vector<std::string> environment{};  // of the image
  std::string cwd = "/";                   // where the image starts; must exist on the host
  std::vector<MemoryFile> memory_files{};
  std::vector<LentHandle> handles{};
  // Child number of the command's standard input. Other than 0 where a launcher's own processes
  // would keep 0 open for as long as the jail lives, so that nobody learned that the command closed
  // it; 0 is then /dev/null, and the inner stage puts things right.
  int stdin_number = 0;
  int report_number = -1;   // child number of the report pipe's write end; -1: no inner stage
  int control_number = -1;  // child number of the control socket; -1 with report_number
  // Document of the commit message: argv, environment and cwd of the command. The host keeps it:
  // start gets the launch without one.
  Bytes commit{};
  std::vector<ChildLimit> child_limits{};
  Ceilings ceilings{};
  std::vector<WatchedPath> watched{};
  // A pid namespace owns every descendant, and ends with its process 1. A launcher's jail without
  // one (a fallback) is ended by the host's caretaker.
  bool jailed_pids = false;
  // How often observe sees the process table while the run lasts, in milliseconds: first before the
  // commit, and a run whose table cannot be read then is refused. 0: never.
  std::uint32_t observe_ms = 0;
  // start makes an exec rule set (StartResult::exec_rules) out of next_exec_object.
  bool wants_exec_rules = false;
  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

// What start says besides having spawned.
struct StartResult {
  std::vector<std::string> entries{};  // further applied entries, usually none
  // A descriptor that goes to the inner stage with the commit and is the host's from now on; -1:
  // none.
  std::int32_t exec_rules = -1;
  // The applied entry of these rules, claimed once the inner stage says that they are in force:
  // "exec-landlock:rules=…".
  std::string exec_entry{};
  friend bool operator==(const StartResult&, const StartResult&) = default;
};

// One object that the kernel may be told to execute (HostServices::next_exec_object).
struct ExecObject {
  std::int32_t handle = -1;  // O_PATH, borrowed until the next call; -1: there are no more
  bool directory = false;    // whatever is in it too, at any depth
  // With handle -1, for the report: how many directories were listed, how many objects are support.
  std::uint64_t listed = 0;
  std::uint64_t support = 0;
  friend bool operator==(const ExecObject&, const ExecObject&) = default;
};

// One row of the process table. `birth` is the kernel's start time of the process, in its own unit;
// pid and birth together name a process for good.
struct ProcessRow {
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::uint64_t birth = 0;
  friend bool operator==(const ProcessRow&, const ProcessRow&) = default;
};

enum class Rung : std::uint8_t { kTerm, kKill, kSettle };

// What observe and targets see. observe gets every snapshot with the rung that comes next, usually
// kTerm, and ignores it.
struct TargetsRequest {
  Rung rung = Rung::kTerm;
  std::int32_t child = 0;           // the process the host spawned
  bool jailed_pids = false;         // LaunchSpec::jailed_pids of the run
  bool launched = false;            // ImageKind::kLauncher: child is a supervisor, not the command
  std::vector<ProcessRow> table{};  // may be empty when it could not be read
  friend bool operator==(const TargetsRequest&, const TargetsRequest&) = default;
};

struct Targets {
  bool whole_group = true;  // signal the run's process group
  // These too, before the group, each only while it is still the process of that birth. Sorted by
  // pid.
  std::vector<ProcessRow> processes{};
  friend bool operator==(const Targets&, const Targets&) = default;
};

}  // namespace loom
