#include "targets.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>
#include <vector>

namespace loom::bwrap {
namespace {

// The supervisor, and process 1 of the namespace where there is one: the death of either ends the
// jail.
std::size_t spared_generations(const TargetsRequest& request) noexcept {
  return request.jailed_pids ? 2 : 1;
}

// Everything below the spared generations, sorted by pid. Walks parent links from the supervisor; a
// pid is visited once, so no row can send the walk in circles.
std::vector<ProcessRow> descendants(const TargetsRequest& request) {
  std::vector<ProcessRow> found;
  std::unordered_set<std::int32_t> visited{request.child};
  std::unordered_set<std::int32_t> generation{request.child};
  const std::size_t spared = spared_generations(request);
  for (std::size_t depth = 1; !generation.empty(); ++depth) {
    std::unordered_set<std::int32_t> next;
    for (const ProcessRow& row : request.table) {
      if (!generation.contains(row.parent) || !visited.insert(row.pid).second) continue;
      next.insert(row.pid);
      if (depth >= spared) found.push_back(row);
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

// Whether each child of `parent`, as the kernel lists it now, is among the targets. A list that
// cannot be read, or that is empty, has no opinion.
bool has_children_of(const std::vector<ProcessRow>& found, std::int32_t parent,
                     HostServices& host) {
  const auto roots = host.children(parent);
  return !roots || std::all_of(roots->begin(), roots->end(),
                               [&](std::int32_t root) { return contains(found, root); });
}

// Whether no root of the command was lost.
bool is_complete(const std::vector<ProcessRow>& found, const TargetsRequest& request,
                 HostServices& host) {
  if (!request.jailed_pids) return has_children_of(found, request.child, host);
  const auto inits = host.children(request.child);
  return !inits || std::all_of(inits->begin(), inits->end(), [&](std::int32_t init) {
    return has_children_of(found, init, host);
  });
}

}  // namespace

Targets targets(const TargetsRequest& request, HostServices& host) {
  if (request.rung != Rung::kTerm || !request.launched) return {};
  std::vector<ProcessRow> found = descendants(request);
  if (found.empty() || !is_complete(found, request, host)) return {};
  return {.whole_group = false, .processes = std::move(found)};
}

}  // namespace loom::bwrap
