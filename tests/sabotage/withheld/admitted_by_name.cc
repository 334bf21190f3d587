#include "guard/exec_spines.h"
#include "wrapped.h"

// The table is asked about names alone: an excluded directory is none under its other name.

namespace loom::guard {

bool real_file(const law::KernelTable& table, const law::Subject& file) noexcept LOOM_REAL;
bool file_by_name(const law::KernelTable& table, const law::Subject& file) noexcept LOOM_OURS;
bool real_inside(const law::KernelTable& table,
                 const law::Subject& directory) noexcept LOOM_SECOND_REAL;
bool inside_by_name(const law::KernelTable& table,
                    const law::Subject& directory) noexcept LOOM_SECOND_OURS;

bool file_by_name(const law::KernelTable& table, const law::Subject& file) noexcept {
  return real_file(table, law::Subject::file(file.real()));
}

bool inside_by_name(const law::KernelTable& table, const law::Subject& directory) noexcept {
  return real_inside(table, law::Subject::inside(directory.real()));
}

}  // namespace loom::guard
