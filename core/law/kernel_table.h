#pragma once

#include <span>
#include <vector>

#include "law/judge.h"
#include "law/table.h"

namespace loom::law {

// A file that would have been support, and the exclusion that keeps it out.
struct DroppedSupport {
  AbsolutePath file;
  bool by_protection = false;  // a protected path of the policy, not an exclusion of the table
  DecidingRule rule{};
  friend bool operator==(const DroppedSupport&, const DroppedSupport&) = default;
};

// What the kernel is told: a table, and the files besides it that admitted programs need to start
// (linkers and interpreters). Support joins where the author was silent, and never over an
// exclusion of either axis. The guard judges no request by it: what is only support is not allowed.
class KernelTable {
 public:
  // `support` are files. Every program that needs one of dropped() must be refused.
  KernelTable(Table table, std::span<const Subject> support,
              std::span<const Exclusion> protected_paths);

  [[nodiscard]] Evidence evidence(const Subject& subject) const noexcept;

  [[nodiscard]] const Table& table() const noexcept { return table_; }
  // The files that joined, in the given order, each once; not those that the table allows anyway.
  [[nodiscard]] const std::vector<AbsolutePath>& support() const noexcept { return support_; }
  [[nodiscard]] const std::vector<DroppedSupport>& dropped() const noexcept { return dropped_; }

 private:
  [[nodiscard]] bool is_support(const AbsolutePath& file) const noexcept;
  void join(const Subject& file, std::span<const Exclusion> protected_paths);

  Table table_;
  std::vector<AbsolutePath> support_;
  std::vector<DroppedSupport> dropped_;
};

}  // namespace loom::law
