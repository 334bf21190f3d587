#include "guard/guard.h"

#include <loom/other_names.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "guard/denial_of.h"
#include "guard/file_system.h"
#include "guard/shown_host.h"
#include "guard/subject_of.h"
#include "guard/walk.h"

namespace loom::guard {
namespace {

using law::Operation;
using law::Reason;

LeafMode leaf_mode(Operation operation) noexcept {
  const bool as_named = operation == Operation::kRemove || operation == Operation::kRenameFrom ||
                        operation == Operation::kRenameTo;
  return as_named ? LeafMode::kAsNamed : LeafMode::kResolve;
}

Access access_of(Operation operation) noexcept {
  const bool reads = operation == Operation::kRead || operation == Operation::kList ||
                     operation == Operation::kExecute || operation == Operation::kMountReadOnly;
  return reads ? Access::kRead : Access::kWrite;
}

// Whether it changes what the name denotes, which the kernel forbids for a mount point.
bool replaces_the_name(Operation operation) noexcept {
  return operation == Operation::kRemove || operation == Operation::kRenameFrom ||
         operation == Operation::kRenameTo;
}

bool leads_to_nothing(const Landing& landing) {
  const auto about = landing.status();
  return about && is_null_device(*about);
}

bool needs_a_parent(Operation operation) noexcept {
  return operation == Operation::kCreate || replaces_the_name(operation);
}

struct Unfit {
  WalkFailure reason;
  int sys_errno = 0;
};

std::optional<Unfit> why_no_file(const Landing& landing) {
  if (landing.kind() == ObjectKind::kDirectory) return Unfit{WalkFailure::kIsADirectory, EISDIR};
  if (landing.kind() != ObjectKind::kRegular) return Unfit{WalkFailure::kNotRegular};
  return std::nullopt;
}

std::optional<Unfit> why_no_source(const Landing& landing) {
  const ObjectKind kind = landing.kind();
  const bool mountable =
      kind == ObjectKind::kDirectory || kind == ObjectKind::kRegular || kind == ObjectKind::kSocket;
  return mountable ? std::nullopt : std::optional(Unfit{WalkFailure::kNotRegular});
}

// Why the operation has no use for what is there.
std::optional<Unfit> why_unfit(Operation operation, std::string_view asked,
                               const Landing& landing) {
  if (operation == Operation::kRenameTo) return std::nullopt;
  if (operation == Operation::kCreate) {
    if (landing.exists()) return Unfit{WalkFailure::kSystem, EEXIST};
    if (landing.must_be_directory()) return Unfit{WalkFailure::kIsADirectory, EISDIR};
    return std::nullopt;
  }
  if (!landing.exists()) return Unfit{WalkFailure::kMissing, ENOENT};
  switch (operation) {
    case Operation::kRead:
    case Operation::kWrite:
      if (asked == "/dev/null" && leads_to_nothing(landing)) return std::nullopt;
      return why_no_file(landing);
    case Operation::kExecute:
      return why_no_file(landing);
    case Operation::kList:
      if (landing.kind() == ObjectKind::kDirectory) return std::nullopt;
      return Unfit{WalkFailure::kNotADirectory, ENOTDIR};
    case Operation::kMountReadOnly:
    case Operation::kMountWritable:
      return why_no_source(landing);
    case Operation::kCreate:
    case Operation::kRemove:
    case Operation::kRenameFrom:
    case Operation::kRenameTo:
      return std::nullopt;
  }
  return std::nullopt;
}

std::size_t count_entries(const std::vector<law::Exclusion>& exclusions,
                          const law::Subject& subject) {
  std::set<std::size_t> entries;
  for (const law::Exclusion& rule : exclusions) {
    if (rule.holds(subject)) entries.insert(rule.origin().index);
  }
  return entries.size();
}

// For the helper itself: without what every jail has whatever its policy says.
std::vector<MountOperation> without_floor(const Snapshot& snapshot, const ShownView& shown) {
  const auto is_floor = [&](const MountOperation& operation) {
    const auto names = [&](const PolicyRegion& region) { return region.real == operation.region; };
    return operation.mount_class == MountClass::kReadable &&
           std::find(shown.floor.begin(), shown.floor.end(), operation.region) !=
               shown.floor.end() &&
           std::none_of(snapshot.regions().begin(), snapshot.regions().end(), names);
  };
  std::vector<MountOperation> kept;
  std::copy_if(shown.view->begin(), shown.view->end(), std::back_inserter(kept),
               [&](const MountOperation& operation) { return !is_floor(operation); });
  return kept;
}

tl::unexpected<Denial> unfit(const Asked& asked, const Landing& landing, const Unfit& why) {
  return tl::unexpected(denial_of(
      asked,
      WalkError{.reason = why.reason, .place = landing.real().str(), .sys_errno = why.sys_errno}));
}

}  // namespace

class Guard::State {
 public:
  State(const Snapshot& snapshot, ShownView shown, std::vector<FileIdentity> pins)
      : snapshot_(&snapshot),
        shown_(std::move(shown)),
        pins_(std::move(pins)),
        whole_(*shown_.view),
        for_payload_(*shown_.view),
        for_helper_(without_floor(snapshot, shown_)) {}

  [[nodiscard]] const Snapshot& snapshot() const noexcept { return *snapshot_; }
  [[nodiscard]] const ShownView& shown() const noexcept { return shown_; }
  [[nodiscard]] const ShownHost& host(Performer performer) const noexcept {
    return performer == Performer::kPayload ? for_payload_ : for_helper_;
  }

  [[nodiscard]] std::optional<Denial> refusal_of(const Asked& asked, const Landing& landing,
                                                 Performer performer) const {
    const law::Subject subject = subject_of(landing);
    const FileSystemVerdict verdict = judge(asked.operation, subject, performer);
    const auto pin = std::find(pins_.begin(), pins_.end(), landing.identity());
    const law::Ruling ruling = law::rule_on({.operation = asked.operation,
                                             .written = asked.path,
                                             .landing = subject,
                                             .is_pin = landing.exists() && pin != pins_.end(),
                                             .file_system = verdict.refusal},
                                            snapshot_->exec(), snapshot_->protected_paths());
    if (!ruling.refusal) return std::nullopt;
    Denial denial =
        denial_of(asked, ruling, subject, verdict, is_excluded_object(ruling, verdict, landing));
    if (ruling.step == law::Step::kPin) {
      denial.rule->index = static_cast<std::uint64_t>(pin - pins_.begin());
    }
    return denial;
  }

  // Whether the jail has something of its own under the very name, whatever the host has: a
  // directory that is made there for an absent protected path beneath.
  [[nodiscard]] bool is_mounted_at(const AbsolutePath& path) const {
    const MountOperation* const last = whole_.effective(path);
    return last != nullptr && last->region == path && !mounts_nothing(*last);
  }

  [[nodiscard]] bool payload_writes(const Landing& landing) const {
    const auto is_root = [&](const FileIdentity& identity) {
      return for_payload_.is_written_root(identity);
    };
    if (for_payload_.is_written_at(landing.real()) || is_root(landing.identity())) return true;
    if (std::any_of(landing.passed().begin(), landing.passed().end(), is_root)) return true;
    if (shown_.mounts == nullptr) return false;
    const std::vector<OtherName> names = MountNames(*shown_.mounts).of(landing.real());
    return std::any_of(names.begin(), names.end(), [&](const OtherName& name) {
      return for_payload_.is_written_at(name.path);
    });
  }

 private:
  [[nodiscard]] FileSystemVerdict judge(Operation operation, const law::Subject& subject,
                                        Performer performer) const {
    const std::vector<law::Exclusion>& hiding = snapshot_->protected_paths();
    const ShownHost& shown = host(performer);
    const MountOperation* decides = shown.effective(subject.real());
    FileSystemVerdict verdict{.refusal = ShownHost::refusal_of(decides, access_of(operation))};
    verdict.evidence.allowed = !verdict.refusal;
    verdict.hidden = law::deciding_exclusion(hiding, subject);
    const bool by_itself = verdict.hidden.has_value();
    if (!by_itself) verdict.hidden = mask_over(subject);
    if (verdict.hidden) {
      verdict.evidence.excluded = true;
      if (by_itself) verdict.others = count_entries(hiding, subject) - 1;
      verdict.refusal = law::refusal_of(verdict.evidence);
    } else if (replaces_the_name(operation)) {
      if (const MountOperation* const point = mount_point_at(shown, subject)) {
        verdict.refusal = Reason::kMountPoint;
        decides = point;
      }
    }
    if (verdict.refusal && decides != nullptr) verdict.region = region_rule(*snapshot_, *decides);
    return verdict;
  }

  // The protected path whose mask lies over the subject though neither a name nor an identity of
  // the subject says so: where a mount of the host's shows a part of a protected directory, the
  // whole mount point is masked.
  [[nodiscard]] std::optional<law::DecidingRule> mask_over(const law::Subject& subject) const {
    const MountOperation* const last = whole_.effective(subject.real());
    if (last == nullptr || last->mount_class != MountClass::kProtected) return std::nullopt;
    for (const law::Exclusion& rule : snapshot_->protected_paths()) {
      if (rule.origin().written != last->written.str()) continue;
      return law::DecidingRule{.scope = rule.scope(),
                               .real = rule.place()->real,
                               .origin = rule.origin(),
                               .match = law::Match::kObject};
    }
    return std::nullopt;
  }

  // The operation that mounts on the subject's name: by the name, or by what the kernel knows a
  // mount point by, a name in a directory of the host, under whatever name that is shown. There it
  // counts even when a later operation covers it.
  [[nodiscard]] static const MountOperation* mount_point_at(const ShownHost& shown,
                                                            const law::Subject& subject) {
    const std::optional<FileIdentity>& parent = subject.passage().parent;
    const std::vector<MountOperation>& operations = shown.operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const MountOperation& operation = operations[i];
      const bool same_path = operation.region == subject.real();
      if (same_path && shown.effective(operation.region) == &operation) return &operation;
      const bool same_name = parent && *parent == operation.parent_identity &&
                             operation.region.name() == subject.real().name();
      if ((same_path || same_name) && is_on_the_host(operations, i)) return &operation;
    }
    return nullptr;
  }

  // Whether an operation's mount point is a name of the host's: what was shown around it when its
  // turn came.
  [[nodiscard]] static bool is_on_the_host(const std::vector<MountOperation>& operations,
                                           std::size_t index) {
    if (operations[index].region.is_root()) return false;
    const AbsolutePath parent = operations[index].region.parent();
    for (std::size_t i = index; i-- > 0;) {
      if (!parent.is_within(operations[i].region)) continue;
      return is_host_backed(operations[i].mount_class);
    }
    return false;
  }

  [[nodiscard]] bool is_excluded_object(const law::Ruling& ruling, const FileSystemVerdict& verdict,
                                        const Landing& landing) const {
    const law::DecidingRule* rule = nullptr;
    if (verdict.hidden) rule = &*verdict.hidden;
    if (ruling.exec && ruling.exec->rule) rule = &*ruling.exec->rule;
    if (rule == nullptr || !rule->real) return false;
    const FileIdentity object = snapshot_->excluded_object(*rule->real);
    if (object == FileIdentity{}) return false;
    const std::vector<FileIdentity>& passed = landing.passed();
    return landing.identity() == object ||
           std::find(passed.begin(), passed.end(), object) != passed.end();
  }

  const Snapshot* snapshot_;
  ShownView shown_;
  std::vector<FileIdentity> pins_;
  ViewReplay whole_;  // masks included
  ShownHost for_payload_;
  ShownHost for_helper_;
};

Guard::Guard(const Snapshot& snapshot, ShownView shown, std::vector<FileIdentity> pins)
    : state_(std::make_shared<const State>(snapshot, std::move(shown), std::move(pins))) {}

const Snapshot& Guard::snapshot() const noexcept { return state_->snapshot(); }

const std::vector<MountOperation>& Guard::view() const noexcept { return *state_->shown().view; }

const std::vector<AbsolutePath>& Guard::floor() const noexcept { return state_->shown().floor; }

const ProgramRules& Guard::programs() const noexcept { return state_->shown().programs; }

bool Guard::payload_writes(const Landing& landing) const { return state_->payload_writes(landing); }

std::optional<Denial> Guard::refusal_of(Operation operation, std::string_view asked,
                                        const Landing& landing, Performer performer) const {
  return state_->refusal_of({.operation = operation, .path = asked, .real = &landing.real()},
                            landing, performer);
}

Judged<Landing> Guard::judge(Operation operation, std::string_view path,
                             Performer performer) const {
  Asked asked{.operation = operation, .path = path};
  auto landing = walk(path, {.leaf = leaf_mode(operation)});
  if (!landing) return tl::unexpected(denial_of(asked, landing.error()));
  const AbsolutePath real = landing->real();
  asked.real = &real;
  if (landing->parent() < 0 && needs_a_parent(operation)) {
    return unfit(asked, *landing, {.reason = WalkFailure::kBadPath});
  }
  if (auto denial = state_->refusal_of(asked, *landing, performer)) {
    return tl::unexpected(*std::move(denial));
  }
  if (const auto why = why_unfit(operation, path, *landing)) return unfit(asked, *landing, *why);
  if (operation == Operation::kCreate && state_->is_mounted_at(real)) {
    return unfit(asked, *landing, {.reason = WalkFailure::kSystem, .sys_errno = EEXIST});
  }
  landing->judge_again(
      [state = state_, operation, written = std::string(path), performer](const Landing& now) {
        return !state->refusal_of({.operation = operation, .path = written, .real = &now.real()},
                                  now, performer);
      });
  return std::move(*landing);
}

Judged<std::pair<Landing, Landing>> Guard::judge_rename(std::string_view from, std::string_view to,
                                                        Performer performer) const {
  LOOM_TRY(Landing source, judge(Operation::kRenameFrom, from, performer));
  LOOM_TRY(Landing target, judge(Operation::kRenameTo, to, performer));
  const ShownHost& shown = state_->host(performer);
  const MountOperation* const here = shown.effective(source.real());
  const MountOperation* const there = shown.effective(target.real());
  if (here != there) {
    return tl::unexpected(
        denial_across({.operation = Operation::kRenameTo, .path = to, .real = &target.real()},
                      region_rule(snapshot(), *here), region_rule(snapshot(), *there)));
  }
  return std::pair(std::move(source), std::move(target));
}

}  // namespace loom::guard
