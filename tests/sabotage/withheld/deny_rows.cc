#include <vector>

#include "backends/bwrap/deny_table.h"
#include "wrapped.h"

// The filter is compiled without the rows whose ids begin with LOOM_WITHHELD_ROWS: "S" are all that
// are not about sockets.

namespace loom::bwrap {

std::span<const DenyRow> real_table() noexcept LOOM_REAL;
std::span<const DenyRow> table_without_rows() noexcept LOOM_OURS;

std::span<const DenyRow> table_without_rows() noexcept {
  static const std::vector<DenyRow> left = [] {
    std::vector<DenyRow> rows;
    for (const DenyRow& row : real_table()) {
      if (!row.id.starts_with(LOOM_WITHHELD_ROWS)) rows.push_back(row);
    }
    return rows;
  }();
  return left;
}

}  // namespace loom::bwrap
