#pragma once

#include <loom/result.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace loom::host {

// How macOS hands out tables that grow while they are asked for. Asked with null, the kernel says
// how many bytes there are about to be; asked with a buffer, it fills that and sets the size to
// what it has filled, or answers ENOMEM when the table has more. Returns 0 or errno.
using AskForTable = std::function<int(void* buffer, std::size_t* bytes)>;

// Asks until the whole table fits, with more room each time. `what` names it in messages. A table
// that has no whole number of rows is another kernel's: an error.
template <class Row>
Result<std::vector<Row>> read_rows(const AskForTable& ask, const char* what) {
  static constexpr std::size_t kAttempts = 8;
  const auto refuse = [what](const std::string& why, int error) {
    return fail(ErrorCode::kSystem, std::string(what) + ": " + why, error);
  };
  for (std::size_t attempt = 1; attempt <= kAttempts; ++attempt) {
    std::size_t bytes = 0;
    int error = ask(nullptr, &bytes);
    if (error != 0) return refuse("ask for its size", error);
    const std::size_t announced = bytes / sizeof(Row) + 1;
    std::vector<Row> rows(announced + announced * attempt / 8);
    bytes = rows.size() * sizeof(Row);
    error = ask(rows.data(), &bytes);
    if (error == ENOMEM) continue;
    if (error != 0) return refuse("read it", error);
    if (bytes % sizeof(Row) != 0 || bytes > rows.size() * sizeof(Row)) {
      return refuse("rows of another size", 0);
    }
    rows.resize(bytes / sizeof(Row));
    return rows;
  }
  return refuse("it grows faster than it can be read", ENOMEM);
}

}  // namespace loom::host
