#pragma once

#include <loom/launch.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace loom::seatbelt {

// Remembers every descendant of a run's direct child that some process table showed, so that those
// can be ended that have left its process group since. A backstop, not a containment: a process
// that is born, leaves its parent and outlives it between two tables is never seen here. The
// profile stays in force for it (docs/platforms.md). Who was born before the direct child is
// nobody's descendant here, whatever a table calls its parent, nor is what lies below it.
//
// Pure but for what it remembers, and for one thread: the helper has no second one.
class ProcessLedger {
 public:
  // Above Darwin's highest pid, 99,999. Beyond it nothing more is remembered; what is nearest to
  // the child comes first. Besides, the ledger needs a few words for each row of the largest table
  // that it saw.
  static constexpr std::size_t kMaxRecords = 131'072;

  // Takes one table. An empty one could not be read, and teaches nothing. Allocates nothing once
  // it has seen a table and a run as large as this.
  void observe(const TargetsRequest& snapshot);

  // The same, and then whom to signal: the group, and everything remembered. A pid that the table
  // gives another birth is not among these, unless that one is a descendant too. Whoever signals
  // compares the birth once more, so naming one that has ended does no harm.
  [[nodiscard]] Targets targets(const TargetsRequest& request);

  void forget();

  // Descendants that the newest table showed: breadth first, siblings in the order of the table,
  // what the child's tree has lost behind the rest.
  [[nodiscard]] std::span<const ProcessRow> seen() const noexcept { return seen_; }

 private:
  using Rows = std::span<const ProcessRow>;
  using Index = std::uint32_t;  // of a row in the newest table
  struct Record {
    ProcessRow row{};
    bool missed = false;  // the newest table did not show it
  };

  void index_table(Rows table);
  [[nodiscard]] std::optional<Index> find(Rows table, std::int32_t pid) const;
  void adopt_child(Rows table, Rung rung);
  void settle_records(Rows table);
  void walk(Rows table);
  void descend(Rows table, Index from);
  void record_seen();

  std::int32_t child_ = 0;
  std::uint64_t child_birth_ = 0;  // 0: not seen yet
  std::vector<Record> records_{};  // sorted by pid
  std::vector<ProcessRow> seen_{};
  // Of the newest table, and kept only to be used again.
  std::vector<Index> by_pid_{};
  std::vector<Index> by_parent_{};
  std::vector<bool> reached_{};
  std::vector<Index> queue_{};
};

}  // namespace loom::seatbelt
