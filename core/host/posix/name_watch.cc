#include "host/name_watch.h"

namespace loom::host {

namespace {

tl::unexpected<Error> not_here() {
  return fail(ErrorCode::kUnsupported, "names cannot be watched on this system");
}

}  // namespace

Result<UniqueFd> NameQueues::take() { return not_here(); }

void NameQueues::give_back(UniqueFd) {}

Result<NameWatch> NameWatch::open(const std::vector<AbsolutePath>&, NameQueues&) {
  return not_here();
}

NameWatch::~NameWatch() = default;

NameWatch& NameWatch::operator=(NameWatch&&) noexcept = default;

std::set<AbsolutePath> NameWatch::changed() { return std::move(changed_); }

std::set<AbsolutePath> NameWatch::unseen() const { return {unseen_.begin(), unseen_.end()}; }

}  // namespace loom::host
