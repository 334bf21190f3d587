#pragma once

#include <loom/facts.h>
#include <loom/launch.h>
#include <loom/plan.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "guard/guard.h"
#include "law/kernel_table.h"

namespace loom::guard {

inline constexpr std::size_t kMaxListedEntries = 200'000;
inline constexpr std::size_t kMaxSearchedNames = 2'000'000;
inline constexpr std::size_t kMaxExecRules = 65'536;
inline constexpr std::chrono::seconds kMaxLowering{5};

// How much one lowering may cost. The time runs from the first object to the last, so it is also
// that of whoever takes them.
struct LoweringCeilings {
  std::size_t entries = kMaxListedEntries;   // of all directories that are listed
  std::size_t searched = kMaxSearchedNames;  // names, of directories searched for a bare name
  std::size_t rules = kMaxExecRules;
  std::chrono::milliseconds time = kMaxLowering;
  std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;
};

// The table of one launch as objects that a kernel can be told of, one at a time: directories that
// are admitted whole, and files where something beneath a directory is excluded, which is then
// listed (docs/guard.md, "Lowering"). Every entry is judged by the table's own evidence.
//
// A link is no object. Holds one descriptor for each level of the tree that it is in, 256 at most,
// and the object's.
class ExecObjects {
 public:
  // `frozen`: what the table's allowances led to (Snapshot::rules().allow); an allowance that is
  // not in it is not compared. `mounts`: those of the host, for what a bind mount shows once more.
  // The table and the view are borrowed.
  ExecObjects(const law::KernelTable& table, const std::vector<MountOperation>& view,
              std::vector<MountFact> mounts, std::vector<ExecRule> frozen,
              LoweringCeilings ceilings = {});
  ~ExecObjects();
  ExecObjects(ExecObjects&&) noexcept;
  ExecObjects& operator=(ExecObjects&&) noexcept;

  // Walks on to the next object. The handle is this object's, until the next call. Refuses with
  // `exec_table_too_large` beyond the ceilings, `redirected` where an allowance or a bind of the
  // view leads elsewhere than when it was frozen, and `resource` without descriptors; it is over
  // then. `asked` of the record is left to the caller, who knows argv[0].
  //
  // May wait for a network file system or an automounter that does not answer.
  [[nodiscard]] Judged<ExecObject> next();

  // What lies on a file system that may not honour a rule, one line each, without the prefix
  // "unheld:exec-landlock=": each root of the walk, and of everything else the first object of each
  // such file system. Complete once next() has said that there are no more.
  [[nodiscard]] const std::vector<std::string>& doubtful_roots() const noexcept;

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

}  // namespace loom::guard
