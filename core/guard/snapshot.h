#pragma once

#include <loom/plan.h>
#include <loom/policy.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "law/rule.h"
#include "law/table.h"
#include "policy/exec_layers.h"

namespace loom::guard {

// Where bare names of an exec table are looked for, in order: real directories, none of which the
// command can write.
struct SearchPath {
  // For names that a table allows: the helper's own PATH and the floor. What a caller asks for
  // grants nothing.
  std::vector<AbsolutePath> own{};
  // For names that a table excludes, and for argv[0]: what the caller asks for, then `own`.
  std::vector<AbsolutePath> all{};
};

// What became of a table's entries, for the report.
struct ExecCounts {
  // allowances of nothing, of an object of the other kind, of "/", or of what the command chooses
  std::size_t dropped = 0;
  std::size_t dead = 0;   // allowances that an exclusion or another layer overrules
  std::size_t links = 0;  // excluded files that have a further name somewhere (L5)
  friend bool operator==(const ExecCounts&, const ExecCounts&) = default;
};

// A root, a mount or the host's scratch of a policy, and where it led.
struct PolicyRegion {
  std::string list{};     // "readable_roots", "writable_roots", "mounts" or "scratch"
  std::size_t index = 0;  // in it
  AbsolutePath written;
  AbsolutePath real;
  bool writable = false;
  FileIdentity identity{};  // zero: nothing is there
  friend bool operator==(const PolicyRegion&, const PolicyRegion&) = default;
};

// Of the machine, whatever a policy says. Borrowed for the call that takes it.
struct FreezeGrounds {
  std::vector<AbsolutePath> floor{};  // what every jail shows for reading, links not yet followed
  // Of the host, for what it has under a second name; null: unknown.
  const std::vector<MountFact>* mounts = nullptr;
  // What other policies let a command write that may have run before.
  std::vector<AbsolutePath> written_before{};
};

// An allowance that was dropped because the command can replace a link on the way.
struct DroppedAllowance {
  law::Allowance rule;  // what it would have been
  std::string remark;   // the one of Snapshot::remarks that names it
};

// A policy whose paths have all been walked, once: what one launch is judged by. The file system
// may go on changing; this does not.
//
// An exclusion holds the path that its name led to and, where links were on the way, also the name
// itself in the directory that it led to. An allowance holds only where it led.
//
// Security: the command may have made whatever lies where it can write, so a link there leads where
// a command wants the next one to be. An allowance that follows one is dropped; an exclusion keeps
// what it found, and is remarked on, since the next launch may find something else.
class Snapshot {
 public:
  // Walks. Nothing refuses: what is absent is a fact. May wait for an automounter.
  //
  // `policy` is the one in force, whose paths hold alone; `paths_layer` says in records which one
  // that is: 0 the base policy, 1 the one that came with a start.
  [[nodiscard]] static Snapshot take(const Policy& policy, const ExecInForce& exec,
                                     const SearchPath& search, std::size_t paths_layer = 0,
                                     const FreezeGrounds& grounds = {});

  // All layers as one table; no opinion where no layer has one.
  [[nodiscard]] const law::Table& exec() const noexcept { return exec_; }
  // Of the policy in force. Each is a file and a directory. Their origins' kind is what was there:
  // a directory, or a file, which anything else counts as.
  [[nodiscard]] const std::vector<law::Exclusion>& protected_paths() const noexcept {
    return protected_;
  }
  [[nodiscard]] const std::vector<PolicyRegion>& regions() const noexcept { return regions_; }
  [[nodiscard]] const ExecInForce& in_force() const noexcept { return in_force_; }
  [[nodiscard]] const Policy& policy() const noexcept { return policy_; }
  [[nodiscard]] const SearchPath& search() const noexcept { return search_; }
  [[nodiscard]] std::size_t paths_layer() const noexcept { return paths_layer_; }
  [[nodiscard]] const ExecCounts& counts() const noexcept { return counts_; }

  // What does not hold as it was written, for the report: "mounts: …" without "skip:", each once.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }
  // The remark on a dropped allowance that would have held `subject`; null if there is none.
  [[nodiscard]] const std::string* why_dropped(const law::Subject& subject) const noexcept;

  // The object of an exclusion's real path when it was frozen; zero: nothing was there.
  [[nodiscard]] FileIdentity excluded_object(const AbsolutePath& real) const;

  // What a backend is told of the table, without support.
  [[nodiscard]] ExecRules rules() const;

 private:
  friend class Freezing;
  Snapshot() = default;

  Policy policy_;
  ExecInForce in_force_;
  SearchPath search_;
  std::size_t paths_layer_ = 0;
  law::Table exec_;
  std::vector<law::Exclusion> protected_;
  std::vector<PolicyRegion> regions_;
  std::map<std::string, FileIdentity> excluded_objects_;  // by real path
  std::vector<ExecRule> allowed_;                         // rules().allow
  std::vector<ExecRule> denied_;                          // rules().deny
  ExecCounts counts_;
  std::vector<std::string> remarks_;
  std::vector<DroppedAllowance> dropped_;
};

}  // namespace loom::guard
