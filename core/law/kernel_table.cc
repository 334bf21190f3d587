#include "law/kernel_table.h"

#include <algorithm>
#include <utility>

namespace loom::law {

KernelTable::KernelTable(Table table, std::span<const Subject> support,
                         std::span<const Exclusion> protected_paths)
    : table_(std::move(table)) {
  for (const Subject& file : support) join(file, protected_paths);
}

void KernelTable::join(const Subject& file, std::span<const Exclusion> protected_paths) {
  const auto drop = [&](bool by_protection, DecidingRule rule) {
    dropped_.push_back(
        {.file = file.real(), .by_protection = by_protection, .rule = std::move(rule)});
  };
  if (auto rule = deciding_exclusion(table_.exclusions(), file)) {
    drop(false, *std::move(rule));
  } else if (auto hidden = deciding_exclusion(protected_paths, file)) {
    drop(true, *std::move(hidden));
  } else if (!table_.allows(file) && !is_support(file.real())) {
    support_.push_back(file.real());
  }
}

bool KernelTable::is_support(const AbsolutePath& file) const noexcept {
  return std::find(support_.begin(), support_.end(), file) != support_.end();
}

Evidence KernelTable::evidence(const Subject& subject) const noexcept {
  Evidence evidence = table_.evidence(subject);
  evidence.allowed = evidence.allowed || (subject.is_file() && is_support(subject.real()));
  return evidence;
}

}  // namespace loom::law
