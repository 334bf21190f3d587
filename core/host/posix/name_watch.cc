#include "host/name_watch.h"

namespace loom::host {

namespace {

tl::unexpected<Error> not_here() {
  return fail(ErrorCode::kUnsupported, "names cannot be watched on this system");
}

}  // namespace

Result<NameWatch> NameWatch::open(const std::vector<AbsolutePath>&) { return not_here(); }

std::set<AbsolutePath> NameWatch::changed() { return std::move(changed_); }

}  // namespace loom::host
