#include "guard/exec_spines.h"

#include <algorithm>

namespace loom::guard {

std::vector<law::Exclusion> exclusions_with_a_place(const law::KernelTable& table) {
  std::vector<law::Exclusion> found = table.table().exclusions();
  std::erase_if(found, [](const law::Exclusion& rule) { return !rule.place(); });
  return found;
}

bool leads_to_an_excluded_name(const ExecSpines& spines, const law::Subject& directory) noexcept {
  const law::Subject by_name = law::Subject::inside(directory.real());
  return std::any_of(spines.places.begin(), spines.places.end(),
                     [&](const law::Exclusion& rule) { return rule.lies_beneath(by_name); });
}

bool is_above_an_exclusion(const ExecSpines& spines, const law::Subject& directory) noexcept {
  return spines.above.contains(*directory.passage().directory);
}

bool leads_to_an_alias(const ExecSpines& spines, const law::Subject& directory) noexcept {
  return spines.above_alias.contains(*directory.passage().directory);
}

bool must_look_for_names(const ExecSpines& spines, const law::Subject& directory) noexcept {
  if (!spines.has_names || spines.above_written.contains(*directory.passage().directory)) {
    return false;
  }
  return std::none_of(spines.written.begin(), spines.written.end(),
                      [&](const FileIdentity& region) { return directory.touched(region); });
}

bool admits_file(const law::KernelTable& table, const law::Subject& file) noexcept {
  return table.evidence(file).admits();
}

bool admits_inside(const law::KernelTable& table, const law::Subject& directory) noexcept {
  return table.evidence(directory).admits();
}

}  // namespace loom::guard
