#include "guard/snapshot.h"

#include <loom/check.h>

#include <algorithm>
#include <set>
#include <utility>

#include "guard/freeze.h"
#include "guard/freeze_exclusion.h"
#include "guard/program_search.h"
#include "guard/replaceable_links.h"
#include "guard/subject_of.h"
#include "guard/walk.h"

namespace loom::guard {
namespace {

AbsolutePath parse_checked(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  LOOM_CHECK(path.has_value());  // the policy was checked when it was decoded
  return *std::move(path);
}

AbsolutePath inside(const AbsolutePath& directory, const std::string& name) {
  return parse_checked(directory.str() + '/' + name);
}

law::Scope scope_of(ExecEntryKind kind) {
  switch (kind) {
    case ExecEntryKind::kDirectory:
      return law::Scope::kDirectory;
    case ExecEntryKind::kFile:
      return law::Scope::kFile;
    case ExecEntryKind::kName:
      return law::Scope::kName;
  }
  return law::Scope::kFile;
}

ExecScope exec_scope_of(law::Scope scope) {
  switch (scope) {
    case law::Scope::kAny:
      return ExecScope::kAny;
    case law::Scope::kDirectory:
      return ExecScope::kDirectory;
    case law::Scope::kFile:
      return ExecScope::kFile;
    case law::Scope::kName:
      return ExecScope::kName;
  }
  return ExecScope::kFile;
}

// What is not what an allowance of its kind can allow.
bool is_wanted(law::Scope scope, PathKind found) {
  return found == (scope == law::Scope::kDirectory ? PathKind::kDirectory : PathKind::kRegular);
}

bool is_other_kind(law::Scope scope, PathKind found) {
  if (found == PathKind::kMissing) return false;
  return (scope == law::Scope::kDirectory) != (found == PathKind::kDirectory);
}

void append(const std::vector<law::Exclusion>& more, std::vector<law::Exclusion>& to) {
  to.insert(to.end(), more.begin(), more.end());
}

law::Exclusion exclusion_of(law::Scope scope, law::Place place, law::Origin origin) {
  return scope == law::Scope::kDirectory
             ? law::Exclusion::directory(std::move(place), std::move(origin))
             : law::Exclusion::file(std::move(place), std::move(origin));
}

}  // namespace

class Freezing {
 public:
  Freezing(Snapshot& snapshot, const FreezeGrounds& grounds)
      : snapshot_(&snapshot), links_(grounds) {}

  void run() {
    freeze_protected();
    freeze_regions();
    std::vector<law::Table> layers;
    for (const ExecLayer& layer : snapshot_->in_force_.layers)
      layers.push_back(freeze_layer(layer));
    snapshot_->exec_ = law::in_force(layers);
    keep_live();
    keep_denied();
  }

 private:
  // Where an allowance led.
  struct Allowed {
    law::Allowance rule;
    law::Subject subject;  // its own, with what the walk saw
    FileIdentity identity;
  };

  void freeze_protected() {
    const std::vector<AbsolutePath>& paths = snapshot_->policy_.protected_paths;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const FrozenExclusion path = freeze_exclusion(paths[i]);
      const bool directory = path.frozen.fact.kind == PathKind::kDirectory;
      const law::Origin origin{.layer = snapshot_->paths_layer_,
                               .index = i,
                               .kind = directory ? law::Scope::kDirectory : law::Scope::kFile,
                               .written = paths[i].str()};
      append(law::exclude_both_kinds(path.place, origin), snapshot_->protected_);
      if (path.name) append(law::exclude_both_kinds(*path.name, origin), snapshot_->protected_);
      remember_object(path.frozen.fact);
    }
  }

  void add_region(const char* list, std::size_t index, const AbsolutePath& written, bool writable) {
    const Frozen frozen = freeze(written);
    const PolicyRegion region{.list = list,
                              .index = index,
                              .written = written,
                              .real = frozen.fact.real,
                              .writable = writable,
                              .identity = frozen.fact.identity};
    links_.add(region);
    snapshot_->regions_.push_back(region);
  }

  void freeze_regions() {
    const Policy& policy = snapshot_->policy_;
    for (std::size_t i = 0; i < policy.writable_roots.size(); ++i) {
      add_region("writable_roots", i, policy.writable_roots[i], true);
    }
    for (std::size_t i = 0; i < policy.readable_roots.size(); ++i) {
      add_region("readable_roots", i, policy.readable_roots[i], false);
    }
    for (std::size_t i = 0; i < policy.mounts.size(); ++i) {
      add_region("mounts", i, policy.mounts[i].path, policy.mounts[i].writable);
    }
    if (policy.scratch.host_path) add_region("scratch", 0, *policy.scratch.host_path, true);
  }

  [[nodiscard]] law::Table freeze_layer(const ExecLayer& layer) {
    std::vector<law::Allowance> allowances;
    std::vector<law::Exclusion> exclusions;
    for (std::size_t i = 0; i < layer.table.allow.size(); ++i) {
      if (const Allowed* const kept = freeze_allowance(layer.layer, i, layer.table.allow[i])) {
        allowances.push_back(kept->rule);
      }
    }
    for (std::size_t i = 0; i < layer.table.deny.size(); ++i) {
      append(freeze_denied(layer.layer, i, layer.table.deny[i]), exclusions);
    }
    return law::make_table(
        layer.table.allow_by_default ? law::Default::kAllow : law::Default::kDeny,
        std::move(allowances), std::move(exclusions), layer.layer);
  }

  // Null: dropped. Good until the next one.
  const Allowed* freeze_allowance(std::size_t layer, std::size_t index, const ExecEntry& entry) {
    const bool bare = entry.kind == ExecEntryKind::kName;
    const law::Scope scope = bare ? law::Scope::kFile : scope_of(entry.kind);
    const auto path = bare ? first_program(entry.value) : std::optional(parse_checked(entry.value));
    const auto frozen = path ? std::optional(freeze(*path)) : std::nullopt;
    if (!frozen) return drop();
    law::Origin origin{
        .layer = layer, .index = index, .kind = scope_of(entry.kind), .written = entry.value};
    const AbsolutePath& real = frozen->fact.real;
    law::Allowance rule = scope == law::Scope::kDirectory
                              ? law::Allowance::directory(real, std::move(origin))
                              : law::Allowance::file(real, std::move(origin));
    if (links_.any_on_the_way_of(*frozen)) {
      std::string remark = remark_on("allowed", entry);
      snapshot_->dropped_.push_back({.rule = std::move(rule), .remark = std::move(remark)});
      return drop();
    }
    if (!is_wanted(scope, frozen->fact.kind)) return drop();
    if (real.is_root()) return drop();  // a written "/" is refused; a link there says no more
    allowed_.push_back({.rule = std::move(rule),
                        .subject = subject_of(*frozen),
                        .identity = frozen->fact.identity});
    return &allowed_.back();
  }

  // As it was found: where its links lead is for whoever freezes it.
  //
  // Security: a mount can show in a directory of the search path what the command writes elsewhere.
  [[nodiscard]] std::optional<AbsolutePath> first_program(const std::string& name) {
    for (const AbsolutePath& directory : snapshot_->search_.own) {
      const AbsolutePath place = inside(directory, name);
      const auto landing = walk(place.str());
      if (!landing || !landing->exists() || why_not_runnable(*landing)) continue;
      const Frozen found = freeze(place);
      if (found.fact.links.empty() && links_.can_be_planted(found)) continue;
      return place;
    }
    return std::nullopt;
  }

  const Allowed* drop() {
    ++snapshot_->counts_.dropped;
    return nullptr;
  }

  std::string remark_on(std::string_view what, const ExecEntry& entry) {
    std::string remark = "mounts: " + std::string(what) + " program path " + entry.value +
                         " is reached through a link the command can replace";
    std::vector<std::string>& remarks = snapshot_->remarks_;
    if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) {
      remarks.push_back(remark);
    }
    return remark;
  }

  [[nodiscard]] std::vector<law::Exclusion> freeze_denied(std::size_t layer, std::size_t index,
                                                          const ExecEntry& entry) {
    const law::Origin origin{
        .layer = layer, .index = index, .kind = scope_of(entry.kind), .written = entry.value};
    if (entry.kind == ExecEntryKind::kName) {
      std::vector<law::Exclusion> exclusions =
          law::exclude_name(entry.value, every_file(entry), origin);
      for (std::size_t i = exclusions.size(); i-- > 0;) {
        if (exclusions[i].place()) {
          exclude_other_names(AbsolutePath(exclusions[i].place()->real), origin, exclusions);
        }
      }
      return exclusions;
    }
    const FrozenExclusion path = freeze_exclusion(parse_checked(entry.value));
    remember_excluded(path.frozen.fact);
    if (links_.any_on_the_way_of(path.frozen)) remark_on("denied", entry);
    std::vector<law::Exclusion> exclusions;
    if (is_other_kind(origin.kind, path.frozen.fact.kind)) {
      exclusions = law::exclude_both_kinds(path.place, origin);
    } else {
      exclusions.push_back(exclusion_of(origin.kind, path.place, origin));
    }
    // Its object is a link, and so of another kind than was written in any case.
    if (path.name) append(law::exclude_both_kinds(*path.name, origin), exclusions);
    exclude_other_names(path.place.real, origin, exclusions);
    return exclusions;
  }

  // Security: a rule of the kernel is of the object. One that admits what a mount shows of an
  // excluded directory would admit it there too.
  void exclude_other_names(const AbsolutePath& real, const law::Origin& origin,
                           std::vector<law::Exclusion>& exclusions) const {
    for (const OtherName& name : links_.other_names_of(real)) {
      append(law::exclude_both_kinds(freeze_exclusion(name.path).place, origin), exclusions);
    }
  }

  // Whatever the search path finds under a name that is excluded, whether it can be run or not.
  [[nodiscard]] std::vector<law::Place> every_file(const ExecEntry& name) {
    std::vector<law::Place> found;
    for (const AbsolutePath& directory : snapshot_->search_.all) {
      FrozenExclusion file = freeze_exclusion(inside(directory, name.value));
      if (file.frozen.fact.kind != PathKind::kRegular) continue;
      remember_excluded(file.frozen.fact);
      if (links_.any_on_the_way_of(file.frozen)) remark_on("denied", name);
      found.push_back(std::move(file.place));
    }
    return found;
  }

  void remember_object(const PathFact& fact) {
    if (fact.kind != PathKind::kMissing) {
      snapshot_->excluded_objects_[fact.real.str()] = fact.identity;
    }
  }

  void remember_excluded(const PathFact& fact) {
    remember_object(fact);
    if (fact.kind != PathKind::kRegular || fact.link_count <= 1) return;
    if (linked_.insert(fact.real).second) ++snapshot_->counts_.links;
  }

  void keep_live() {
    for (const law::Allowance& rule : snapshot_->exec_.allowances()) {
      if (rule.scope() == law::Scope::kAny &&
          snapshot_->exec_.evidence(rule.own_subject()).admits()) {
        keep({.scope = ExecScope::kAny, .real = AbsolutePath::root()});
      }
    }
    for (const Allowed& allowed : allowed_) {
      if (!snapshot_->exec_.evidence(allowed.subject).admits()) {
        ++snapshot_->counts_.dead;
        continue;
      }
      keep({.scope = exec_scope_of(allowed.rule.scope()),
            .real = allowed.rule.real(),
            .written = allowed.rule.origin().written,
            .identity = allowed.identity,
            .parent_identity = allowed.subject.passage().parent.value_or(FileIdentity{})});
    }
  }

  void keep(ExecRule rule) {
    std::vector<ExecRule>& kept = snapshot_->allowed_;
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const ExecRule& other) {
      return other.scope == rule.scope && other.real == rule.real;
    });
    if (!known) kept.push_back(std::move(rule));
  }

  void keep_denied() {
    for (const law::Exclusion& exclusion : snapshot_->exec_.exclusions()) {
      ExecRule rule{.scope = exec_scope_of(exclusion.scope()),
                    .real = AbsolutePath::root(),
                    .written = exclusion.origin().written};
      if (exclusion.place()) {
        rule.real = exclusion.place()->real;
        rule.identity = snapshot_->excluded_object(rule.real);
        rule.parent_identity = exclusion.place()->parent.value_or(FileIdentity{});
      } else {
        rule.name = rule.written;
      }
      snapshot_->denied_.push_back(std::move(rule));
    }
  }

  Snapshot* snapshot_;
  ReplaceableLinks links_;
  std::vector<Allowed> allowed_;
  std::set<AbsolutePath> linked_;
};

Snapshot Snapshot::take(const Policy& policy, const ExecInForce& exec, const SearchPath& search,
                        std::size_t paths_layer, const FreezeGrounds& grounds) {
  Snapshot snapshot;
  snapshot.policy_ = policy;
  snapshot.in_force_ = exec;
  snapshot.search_ = search;
  snapshot.paths_layer_ = paths_layer;
  Freezing(snapshot, grounds).run();
  return snapshot;
}

const std::string* Snapshot::why_dropped(const law::Subject& subject) const noexcept {
  const auto found = std::find_if(
      dropped_.begin(), dropped_.end(),
      [&subject](const DroppedAllowance& dropped) { return dropped.rule.holds(subject); });
  return found == dropped_.end() ? nullptr : &found->remark;
}

FileIdentity Snapshot::excluded_object(const AbsolutePath& real) const {
  const auto found = excluded_objects_.find(real.str());
  return found == excluded_objects_.end() ? FileIdentity{} : found->second;
}

namespace {

// The jail's own: nothing of the host is there, so only names count.
bool runs_in_scratch(const law::Table& exec, const Policy& policy) {
  if (!policy.scratch.is_tmpfs()) return false;
  const law::Subject scratch = law::Subject::inside(parse_checked("/tmp"));
  if (!exec.evidence(scratch).admits()) return false;
  return std::none_of(
      exec.exclusions().begin(), exec.exclusions().end(), [&](const law::Exclusion& rule) {
        const bool at = rule.place() && law::FoldedPath(rule.place()->real) == scratch.folded();
        return at || rule.lies_beneath(scratch);
      });
}

}  // namespace

ExecRules Snapshot::rules() const {
  return {.restrictive = exec_.is_restrictive(),
          .required = in_force_.required,
          .memfd_noexec = in_force_.memfd_noexec,
          .scratch_runs = runs_in_scratch(exec_, policy_),
          .allow = allowed_,
          .deny = denied_};
}

}  // namespace loom::guard
