#include "targets.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

namespace loom::bwrap {
namespace {

constexpr std::size_t kSparedGenerations = 2;  // the supervisor, and process 1 of the namespace

// Everything below the spared generations, sorted by pid. Walks parent links from the supervisor; a
// pid is visited once, so no row can send the walk in circles.
std::vector<ProcessRow> descendants(const TargetsRequest& request) {
  std::vector<ProcessRow> found;
  std::unordered_set<std::int32_t> visited{request.child};
  std::unordered_set<std::int32_t> generation{request.child};
  for (std::size_t depth = 1; !generation.empty(); ++depth) {
    std::unordered_set<std::int32_t> next;
    for (const ProcessRow& row : request.table) {
      if (!generation.contains(row.parent) || !visited.insert(row.pid).second) continue;
      next.insert(row.pid);
      if (depth >= kSparedGenerations) found.push_back(row);
    }
    generation = std::move(next);
  }
  std::sort(found.begin(), found.end(),
            [](const ProcessRow& a, const ProcessRow& b) { return a.pid < b.pid; });
  return found;
}

bool contains(const std::vector<ProcessRow>& rows, std::int32_t pid) {
  return std::any_of(rows.begin(), rows.end(),
                     [pid](const ProcessRow& row) { return row.pid == pid; });
}

// Whether each root of the command, as the kernel lists it now, is among the targets. A list that
// cannot be read, or that is empty, has no opinion.
bool is_complete(const std::vector<ProcessRow>& found, std::int32_t child, HostServices& host) {
  const auto inits = host.children(child);
  if (!inits) return true;
  for (const std::int32_t init : *inits) {
    const auto roots = host.children(init);
    if (!roots) continue;
    for (const std::int32_t root : *roots) {
      if (!contains(found, root)) return false;
    }
  }
  return true;
}

}  // namespace

Targets targets(const TargetsRequest& request, HostServices& host) {
  if (request.rung != Rung::kTerm || !request.launched) return {};
  std::vector<ProcessRow> found = descendants(request);
  if (found.empty() || !is_complete(found, request.child, host)) return {};
  return {.whole_group = false, .processes = std::move(found)};
}

}  // namespace loom::bwrap
