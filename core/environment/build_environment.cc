#include "environment/build_environment.h"

#include <algorithm>
#include <set>

namespace loom {
namespace {

constexpr std::string_view kPath = "PATH";
constexpr std::string_view kScratchDir = "LOOM_SCRATCH_DIR";

bool is_excluded(const AbsolutePath& directory, const std::vector<AbsolutePath>& excluded) {
  return std::any_of(excluded.begin(), excluded.end(),
                     [&](const AbsolutePath& root) { return directory.is_within(root); });
}

std::vector<std::string_view> split_at_colons(std::string_view list) {
  std::vector<std::string_view> entries;
  while (true) {
    const std::size_t colon = list.find(':');
    entries.push_back(list.substr(0, colon));
    if (colon == std::string_view::npos) return entries;
    list.remove_prefix(colon + 1);
  }
}

std::string join_path(const std::vector<AbsolutePath>& directories) {
  std::vector<std::string_view> entries;
  for (const AbsolutePath& directory : directories) entries.push_back(directory.str());
  for (const std::string_view floor : kPathFloor) {
    if (std::find(entries.begin(), entries.end(), floor) == entries.end()) entries.push_back(floor);
  }
  std::string path;
  for (const std::string_view entry : entries) {
    if (!path.empty()) path += ':';
    path += entry;
  }
  return path;
}

bool can_be_passed_on(std::string_view name, std::string_view value) {
  constexpr std::string_view kNeverInName("=\0", 2);
  return !name.empty() && name.find_first_of(kNeverInName) == std::string_view::npos &&
         value.find('\0') == std::string_view::npos;
}

}  // namespace

std::vector<AbsolutePath> path_candidates(std::string_view requested, std::string_view inherited,
                                          const std::vector<AbsolutePath>& excluded) {
  std::vector<AbsolutePath> candidates;
  std::set<AbsolutePath> seen;
  for (const std::string_view list : {requested, inherited}) {
    for (const std::string_view entry : split_at_colons(list)) {
      auto directory = AbsolutePath::parse(entry);
      if (!directory || is_excluded(*directory, excluded)) continue;
      if (seen.insert(*directory).second) candidates.push_back(*std::move(directory));
    }
  }
  return candidates;
}

std::vector<std::string> build_environment(const EnvironmentRequest& request) {
  std::map<std::string, std::string> variables = request.requested;
  variables[std::string(kPath)] =
      request.path ? *request.path : join_path(request.path_directories);
  variables.erase(std::string(kScratchDir));
  if (request.scratch_dir) variables[std::string(kScratchDir)] = *request.scratch_dir;

  const std::set<std::string_view> allowed(request.allow.begin(), request.allow.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    if (!allowed.contains(name) || !can_be_passed_on(name, value)) continue;
    environment.push_back(name + "=" + value);
  }
  return environment;
}

std::vector<std::string> scrub_loader_variables(std::vector<std::string>& environment) {
  const auto is_kept = [](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    return !name.starts_with("LD_") && !name.starts_with("DYLD_") && name != "GLIBC_TUNABLES";
  };
  const auto first = std::stable_partition(environment.begin(), environment.end(), is_kept);
  std::vector<std::string> names;
  for (auto each = first; each != environment.end(); ++each) {
    names.push_back(each->substr(0, each->find('=')));
  }
  environment.erase(first, environment.end());
  return names;
}

}  // namespace loom
