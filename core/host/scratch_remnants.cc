#include "host/scratch_remnants.h"

#include <sys/stat.h>

#include "host/private_scratch.h"

namespace loom::host {

namespace {

bool is_gone(const AbsolutePath& path) {
  struct stat about {};
  return ::lstat(path.str().c_str(), &about) != 0;
}

}  // namespace

void ScratchRemnants::begin(const AbsolutePath& scratch) {
  ScratchRemoval removal(scratch);
  static_cast<void>(removal.go_on(ScratchRemoval::Clock::now() + moment_));
  if (removal.problems().empty()) return;
  std::erase_if(left_, is_gone);
  left_.push_back(scratch);
}

void ScratchRemnants::remove() const {
  for (const AbsolutePath& scratch : left_) {
    static_cast<void>(remove_private_scratch(scratch));
  }
}

}  // namespace loom::host
