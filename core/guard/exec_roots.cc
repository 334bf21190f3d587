#include "guard/exec_roots.h"

#include <loom/view_replay.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "guard/launch_refusal.h"
#include "guard/reached.h"

namespace loom::guard {
namespace {

constexpr FileIdentity kUnknown{};

bool may_be_absent(MountForm form) noexcept {
  return form == MountForm::kBindTry || form == MountForm::kReadOnlyBindTry;
}

// What a bind of the view shows. A region can be a link (a system root on an otherwise empty root);
// the frozen object says whether the link still leads there.
Judged<std::optional<ExecRoot>> root_of(const MountOperation& bind) {
  const bool compared = bind.identity != kUnknown;
  const bool optional = may_be_absent(bind.form);
  if (optional && !compared) return std::optional<ExecRoot>();  // it was not there when planned
  auto found = reach(bind.region, compared ? LinksOnTheWay::kFollowed : LinksOnTheWay::kRefused);
  if (!found) {
    if (optional && found.error().reason == WalkFailure::kSearchDenied) {
      return std::optional<ExecRoot>();
    }
    return refuse_walk(found.error(), bind.region);
  }
  if (!*found) {
    if (optional) return std::optional<ExecRoot>();
    return refuse_redirected(bind.region, "is not there any more");
  }
  const AbsolutePath& real = (*found)->subject.real();
  return std::optional(ExecRoot{.real = real,
                                .frozen = bind.identity,
                                .optional = optional,
                                .other_name = real != bind.region || bind.written != bind.region});
}

class Roots {
 public:
  void add(ExecRoot root) {
    const auto [at, inserted] = by_path_.try_emplace(root.real.str(), root);
    if (inserted) return;
    ExecRoot& known = at->second;
    if (known.frozen == kUnknown) known.frozen = root.frozen;
    known.optional = known.optional && root.optional;
    known.allowance = known.allowance || root.allowance;
    known.named_inside = known.named_inside || root.named_inside;
    known.other_name = known.other_name || root.other_name;
  }
  // In the byte order of the paths, so that a directory comes before what is in it.
  [[nodiscard]] std::vector<ExecRoot> take() {
    std::vector<ExecRoot> roots;
    roots.reserve(by_path_.size());
    for (auto& [path, root] : by_path_) roots.push_back(std::move(root));
    return roots;
  }

 private:
  std::map<std::string, ExecRoot> by_path_;
};

FileIdentity frozen_identity(const std::vector<ExecRule>& frozen, const AbsolutePath& real) {
  const auto found = std::find_if(frozen.begin(), frozen.end(), [&](const ExecRule& rule) {
    return rule.scope == ExecScope::kDirectory && rule.real == real;
  });
  return found == frozen.end() ? kUnknown : found->identity;
}

std::vector<ExecRoot> allowed_directories(const law::KernelTable& table,
                                          const std::vector<ExecRule>& frozen) {
  std::vector<ExecRoot> roots;
  for (const law::Allowance& rule : table.table().allowances()) {
    if (rule.scope() != law::Scope::kDirectory) continue;
    if (!table.evidence(rule.own_subject()).admits()) continue;
    roots.push_back({.real = rule.real(),
                     .frozen = frozen_identity(frozen, rule.real()),
                     .allowance = true,
                     .named_inside = true});
  }
  return roots;
}

}  // namespace

bool binds_from_host(const MountOperation& operation) noexcept {
  return is_host_backed(operation.mount_class) && operation.form != MountForm::kNone;
}

Judged<std::vector<ExecRoot>> exec_roots(const law::KernelTable& table,
                                         const std::vector<MountOperation>& view,
                                         const std::vector<ExecRule>& frozen) {
  Roots roots;
  const bool everything = table.evidence(law::Subject::inside(AbsolutePath::root())).admits();
  std::vector<ExecRoot> allowed;
  if (!everything) allowed = allowed_directories(table, frozen);
  for (const ExecRoot& root : allowed) roots.add(root);
  if (!everything && allowed.empty()) return roots.take();
  const ViewReplay replay(view);
  for (const MountOperation& operation : view) {
    if (!binds_from_host(operation) || replay.effective(operation.region) != &operation) continue;
    LOOM_TRY(std::optional<ExecRoot> root, root_of(operation));
    if (!root) continue;
    root->named_inside = std::any_of(allowed.begin(), allowed.end(), [&](const ExecRoot& above) {
      return root->real.is_within(above.real);
    });
    if (everything || root->named_inside) roots.add(*std::move(root));
  }
  return roots.take();
}

}  // namespace loom::guard
