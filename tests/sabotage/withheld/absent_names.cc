#include <unistd.h>

#include "guard/exec_spines.h"
#include "wrapped.h"

// What is excluded and not there is forgotten.

namespace loom::guard {

using Exclusions = std::vector<law::Exclusion>;
Exclusions real_exclusions(const law::KernelTable& table) LOOM_REAL;
Exclusions existing_ones(const law::KernelTable& table) LOOM_OURS;

Exclusions existing_ones(const law::KernelTable& table) {
  Exclusions exclusions = real_exclusions(table);
  std::erase_if(exclusions, [](const law::Exclusion& rule) {
    return ::access(rule.place()->real.str().c_str(), F_OK) != 0;
  });
  return exclusions;
}

}  // namespace loom::guard
