#include "backends/seatbelt/process_ledger.h"

#include <algorithm>
#include <numeric>

namespace loom::seatbelt {

namespace {

// Nobody's descendants: the kernel, and what adopts all orphans.
constexpr std::int32_t kAdopter = 1;

}  // namespace

// Rows of one key keep the order of the table. Not std::stable_sort, which allocates.
void ProcessLedger::index_table(Rows table) {
  const auto sort_by = [table](std::vector<Index>& indices, std::int32_t ProcessRow::*key) {
    indices.resize(table.size());
    std::iota(indices.begin(), indices.end(), Index{0});
    std::sort(indices.begin(), indices.end(), [table, key](Index a, Index b) {
      return table[a].*key != table[b].*key ? table[a].*key < table[b].*key : a < b;
    });
  };
  sort_by(by_pid_, &ProcessRow::pid);
  sort_by(by_parent_, &ProcessRow::parent);
  reached_.assign(table.size(), false);
}

// The last row of that pid: a number that changed hands while the table was read stands in it
// twice.
std::optional<ProcessLedger::Index> ProcessLedger::find(Rows table, std::int32_t pid) const {
  const auto after =
      std::upper_bound(by_pid_.begin(), by_pid_.end(), pid,
                       [table](std::int32_t wanted, Index row) { return wanted < table[row].pid; });
  if (after == by_pid_.begin() || table[*(after - 1)].pid != pid) return std::nullopt;
  return *(after - 1);
}

// While the run has not settled the host has not reaped the child, so its number is nobody else's.
void ProcessLedger::adopt_child(Rows table, Rung rung) {
  if (child_birth_ != 0 || rung == Rung::kSettle) return;
  if (const auto row = find(table, child_)) child_birth_ = table[*row].birth;
}

// A table may miss a process that is there. Only two in a row are believed.
void ProcessLedger::settle_records(Rows table) {
  std::erase_if(records_, [this, table](Record& record) {
    const auto row = find(table, record.row.pid);
    if (!row) {
      const bool gone = record.missed;
      record.missed = true;
      return gone;
    }
    if (table[*row].birth != record.row.birth) return true;
    record = {.row = table[*row], .missed = false};
    return false;
  });
}

// Everything below `from` that was not reached yet.
void ProcessLedger::descend(Rows table, Index from) {
  queue_.clear();
  queue_.push_back(from);
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const std::int32_t parent = table[queue_[next]].pid;
    auto child = std::lower_bound(
        by_parent_.begin(), by_parent_.end(), parent,
        [table](Index row, std::int32_t wanted) { return table[row].parent < wanted; });
    for (; child != by_parent_.end() && table[*child].parent == parent; ++child) {
      const ProcessRow& row = table[*child];
      if (reached_[*child] || row.pid <= kAdopter || find(table, row.pid) != *child) continue;
      // Its parent is one that traces it: a debugger gets what it traces for a child.
      if (row.birth < child_birth_) continue;
      reached_[*child] = true;
      seen_.push_back(row);
      queue_.push_back(*child);
    }
  }
}

// From the child, and then from what once was below it and has another parent now: what that has
// forked since is the run's as well.
void ProcessLedger::walk(Rows table) {
  seen_.clear();
  const auto child = find(table, child_);
  if (child && table[*child].birth == child_birth_) {
    reached_[*child] = true;
    descend(table, *child);
  }
  for (const Record& record : records_) {
    const auto row = find(table, record.row.pid);
    if (!row || reached_[*row]) continue;
    reached_[*row] = true;
    seen_.push_back(table[*row]);
    descend(table, *row);
  }
}

void ProcessLedger::record_seen() {
  const auto by_pid = [](const Record& a, const Record& b) { return a.row.pid < b.row.pid; };
  const auto known = static_cast<std::ptrdiff_t>(records_.size());
  for (const ProcessRow& row : seen_) {
    if (records_.size() >= kMaxRecords) break;
    const Record record{.row = row};
    if (std::binary_search(records_.begin(), records_.begin() + known, record, by_pid)) continue;
    records_.push_back(record);
  }
  // Sorting is not free where nothing is new, which is nearly always.
  if (records_.begin() + known != records_.end()) {
    std::sort(records_.begin(), records_.end(), by_pid);
  }
}

void ProcessLedger::observe(const TargetsRequest& snapshot) {
  if (snapshot.child != child_) forget();
  child_ = snapshot.child;
  if (child_ <= kAdopter || snapshot.table.empty()) return;
  const Rows table = snapshot.table;
  index_table(table);
  adopt_child(table, snapshot.rung);
  settle_records(table);
  walk(table);
  record_seen();
}

Targets ProcessLedger::targets(const TargetsRequest& request) {
  observe(request);
  Targets targets;
  targets.processes.reserve(records_.size());
  for (const Record& record : records_) targets.processes.push_back(record.row);
  return targets;
}

void ProcessLedger::forget() {
  child_ = 0;
  child_birth_ = 0;
  records_.clear();
  seen_.clear();
}

}  // namespace loom::seatbelt
