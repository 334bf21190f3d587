// Of a system that is neither Linux nor macOS nothing here knows how it shows other processes.
#include "host/process_table.h"

namespace loom::host {

namespace {

tl::unexpected<Error> not_here() {
  return fail(ErrorCode::kUnsupported, "other processes cannot be seen on this system");
}

}  // namespace

std::optional<ProcessRow> parse_process_stat(std::string_view) { return std::nullopt; }

char process_state(std::string_view) noexcept { return 0; }

std::optional<ProcessRow> read_process(std::int32_t) { return std::nullopt; }

char read_process_state(std::int32_t) { return 0; }

Result<std::vector<ProcessRow>> read_process_table() { return not_here(); }

Result<std::vector<ProcessRow>> read_group(const ProcessRow&) { return not_here(); }

Result<std::vector<std::int32_t>> read_children(std::int32_t) { return not_here(); }

bool shares_namespaces(int, std::int32_t, NamespaceKinds) { return false; }

UniqueFd open_process(const ProcessRow&) noexcept { return UniqueFd(); }

// Without a birth to compare, nobody can be told from who had the number before.
bool signal_process(const ProcessRow&, int) noexcept { return false; }

}  // namespace loom::host
