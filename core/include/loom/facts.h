#pragma once

#include <loom/absolute_path.h>
#include <loom/bytes.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom {

// Which object a path led to when it was looked at. Zero in both fields: nothing was there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

enum class PathKind : std::uint8_t {
  // stat failed, for whatever reason (PathFact::error says which), or all there is is a placeholder
  // that some helper made (D12), which counts as ENOENT
  kMissing,
  kDirectory,
  kRegular,
  kOther,  // FIFO, socket, device: masked like a file, never opened by the helper
};

// One symbolic link met while a path was resolved.
struct LinkFact {
  AbsolutePath place;    // the link itself, its directory resolved
  std::string target{};  // its text
  friend bool operator==(const LinkFact&, const LinkFact&) = default;
};

// What one surveyed path is on this machine, at the time of the survey.
struct PathFact {
  AbsolutePath path;  // as asked
  AbsolutePath real;  // links followed: the deepest existing prefix, the rest appended
  PathKind kind = PathKind::kMissing;
  FileIdentity identity{};  // of the object at `real`; when missing, of the placeholder, or zero
  FileIdentity
      parent_identity{};  // of the directory that holds real's last component; zero if absent
  std::uint64_t link_count = 0;   // hard links of the object; a directory's may be an earlier one
  std::vector<LinkFact> links{};  // in the order met; empty when path == real
  int error = 0;                  // errno of the failing step; 0 when the object is there
  friend bool operator==(const PathFact&, const PathFact&) = default;
};

// One directory on the way to a surveyed path, links resolved.
struct DirectoryFact {
  AbsolutePath path;
  FileIdentity identity{};
  bool placeholder = false;  // made by a helper for a protected path below; to the policy, missing
  friend bool operator==(const DirectoryFact&, const DirectoryFact&) = default;
};

// One line of the helper's mount table (proc_pid_mountinfo(5)).
struct MountFact {
  AbsolutePath point;    // where it is mounted
  AbsolutePath root;     // which directory or file of its file system it shows
  std::string device{};  // "major:minor", as the table spells it
  friend bool operator==(const MountFact&, const MountFact&) = default;
};

// A program that a backend needs besides itself (its launcher, its stage 2).
struct PieceFact {
  bool present = false;
  std::string path{};    // where it was found
  std::string reason{};  // why it is absent
  FileIdentity identity{};
  friend bool operator==(const PieceFact&, const PieceFact&) = default;
};

// Whether a control group can hold the memory and process ceilings of a run.
struct CeilingFact {
  bool available = false;
  std::string reason{};  // why not, with the hint for the operator
  friend bool operator==(const CeilingFact&, const CeilingFact&) = default;
};

// Everything about the machine that a pure verb may ask. Gathered by the host, never by a verb.
struct HostFacts {
  std::string os{};       // "linux", "darwin", … as uname -s in lower case
  std::string machine{};  // "x86_64", "aarch64", … as uname -m
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  PieceFact launcher{};
  PieceFact stage2{};
  CeilingFact ceilings{};
  // The soft RLIMIT_NOFILE that the helper was started with, and raised; the command gets it back.
  // nullopt: nothing was raised.
  std::optional<std::uint64_t> descriptor_limit{};
  std::vector<PathFact> paths{};  // what survey asked for, same order
  // Every existing directory above `real` of a surveyed path, each once, sorted by path.
  std::vector<DirectoryFact> directories{};
  std::vector<MountFact> mounts{};  // in the table's order, when survey wants them
  Bytes backend{};  // what the backend's own probe returned last; opaque to the host

  // The fact about exactly this path, or null when the survey did not ask for it.
  [[nodiscard]] const PathFact* find(const AbsolutePath& path) const noexcept;
  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

}  // namespace loom
