#include "guard/denial_of.h"

#include <loom/utf8.h>

#include <algorithm>
#include <utility>

#include "guard/system_error.h"

namespace loom::guard {
namespace {

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

std::string_view words_of(WalkFailure failure) noexcept {
  switch (failure) {
    case WalkFailure::kBadPath:
      return "no path that can be walked for this";
    case WalkFailure::kTooLong:
      return "a name is longer than 255 bytes";
    case WalkFailure::kTooDeep:
      return "more than 256 directories lie within each other";
    case WalkFailure::kMissing:
      return "nothing is there";
    case WalkFailure::kNotADirectory:
      return "it is no directory";
    case WalkFailure::kIsADirectory:
      return "it is a directory";
    case WalkFailure::kSearchDenied:
      return "a directory on the way may not be searched";
    case WalkFailure::kTooManyLinks:
      return "too many links are on the way";
    case WalkFailure::kLinkRefused:
      return "it is a link";
    case WalkFailure::kLinkUntrusted:
      return "the link is somebody else's, in a directory that everybody may write";
    case WalkFailure::kMagicLink:
      return "the link is one of procfs, whose text is not where it leads";
    case WalkFailure::kPseudoFs:
      return "it lies on procfs";
    case WalkFailure::kNotRegular:
      return "it is no regular file";
    case WalkFailure::kRaced:
      return "another object has the name by now";
    case WalkFailure::kResource:
      return "the helper is out of descriptors or memory";
    case WalkFailure::kSystem:
      return "the kernel refuses";
  }
  return "the kernel refuses";
}

std::optional<std::string> limit_of(WalkFailure failure) {
  if (failure == WalkFailure::kLinkUntrusted) return "L24";
  if (failure == WalkFailure::kMagicLink || failure == WalkFailure::kPseudoFs) return "L25";
  return std::nullopt;
}

// Which component of the walked path, the links' texts spliced in, was in work.
std::optional<std::uint64_t> stopped_at(const WalkError& error) {
  const std::string_view place = error.place;
  if (place.size() < 2 || !place.starts_with('/')) return std::nullopt;
  return static_cast<std::uint64_t>(std::count(place.begin(), place.end(), '/')) - 1;
}

// read "/w/l", really "/o/f"
std::string request_text(const Asked& asked) {
  std::string text(operation_name(asked.operation));
  text += ' ' + quoted(asked.path);
  if (asked.real != nullptr && asked.real->str() != asked.path) {
    text += ", really " + quoted(asked.real->str());
  }
  return text;
}

// protected[0] "/w/key"
std::string rule_text(const DenialRule& rule) {
  std::string text = rule.list == "floor" || rule.list == "pins"
                         ? "the jail's own"
                         : rule.list + '[' + std::to_string(rule.index) + ']';
  text += ' ' + quoted(rule.written);
  if (rule.real && *rule.real != rule.written) text += ", really " + quoted(*rule.real) + ',';
  return text;
}

std::string_view match_text(law::Match match) noexcept {
  switch (match) {
    case law::Match::kStored:
      return {};
    case law::Match::kFolded:
      return "; the name is another spelling of the excluded one, and an exclusion holds under "
             "every spelling";
    case law::Match::kObject:
      return "; the name is another one of the same object, and an exclusion holds under every "
             "name";
  }
  return {};
}

DenialRule rule_of(const law::DecidingRule& rule, std::string dimension, std::string list) {
  const law::Origin& origin = rule.origin;
  DenialRule record{.dimension = std::move(dimension),
                    .layer = origin.layer == law::Origin::kNobody ? 0 : origin.layer,
                    .list = std::move(list),
                    .index = origin.index,
                    .written = origin.written,
                    .kind = std::string(law::scope_name(origin.kind)),
                    .match = std::string(law::match_name(rule.match))};
  if (rule.real) record.real = rule.real->str();
  return record;
}

Denial begun(const Asked& asked, std::string_view reason) {
  Denial denial{.source = "guard",
                .op = std::string(operation_name(asked.operation)),
                .asked = std::string(asked.path),
                .reason = std::string(reason)};
  if (asked.real != nullptr) denial.real = asked.real->str();
  return denial;
}

void say(Denial& denial, const Asked& asked, const std::string& why) {
  denial.text = denial.reason + ": " + request_text(asked) + ": " + why;
}

bool is_write(law::Operation operation) noexcept {
  switch (operation) {
    case law::Operation::kRead:
    case law::Operation::kList:
    case law::Operation::kExecute:
    case law::Operation::kMountReadOnly:
      return false;
    case law::Operation::kWrite:
    case law::Operation::kCreate:
    case law::Operation::kRemove:
    case law::Operation::kRenameFrom:
    case law::Operation::kRenameTo:
    case law::Operation::kMountWritable:
      return true;
  }
  return true;
}

void hidden(Denial& denial, const Asked& asked, const FileSystemVerdict& verdict,
            bool same_object) {
  denial.rule = protected_rule(*verdict.hidden);
  denial.others = verdict.others;
  std::string why = rule_text(*denial.rule) + " hides it";
  why += match_text(verdict.hidden->match);
  if (verdict.evidence.allowed && verdict.region) {
    denial.overridden = verdict.region;
    why += "; nothing reopens a protected path, and so " + rule_text(*verdict.region) +
           " does not help";
  }
  if (verdict.hidden->match == law::Match::kFolded && !same_object) denial.limit = "L12";
  denial.hint = "take the path out of \"protected\"";
  say(denial, asked, why);
}

void by_view(Denial& denial, const Asked& asked, law::Reason reason,
             const std::optional<DenialRule>& region) {
  const std::string list = is_write(asked.operation) ? "writable_roots" : "readable_roots";
  const std::string what = region ? rule_text(*region) : "the jail's own root";
  if (reason != law::Reason::kNotAllowed) denial.rule = region;
  if (reason == law::Reason::kNotAHostObject) {
    denial.limit = "L33";
    say(denial, asked, "what is there in the jail is not the host's: " + what);
  } else if (reason == law::Reason::kReadOnly) {
    denial.hint = "add the path to \"" + list + '"';
    say(denial, asked, what + " shows it for reading only");
  } else if (reason == law::Reason::kMountPoint) {
    say(denial, asked,
        "it is a mount point of the jail (" + what + "), which can be neither removed nor renamed");
  } else {
    denial.hint = "add the path to \"" + list + '"';
    say(denial, asked, "nothing in the policy shows it");
  }
}

void by_file_system(Denial& denial, const Asked& asked, const FileSystemVerdict& verdict,
                    bool same_object) {
  denial.evidence = law::evidence_name(verdict.evidence);
  if (verdict.hidden) {
    hidden(denial, asked, verdict, same_object);
  } else {
    by_view(denial, asked, *verdict.refusal, verdict.region);
  }
}

void by_pin(Denial& denial, const Asked& asked) {
  denial.rule = DenialRule{.dimension = "pin",
                           .list = "pins",
                           .written = asked.real->str(),
                           .real = asked.real->str(),
                           .kind = std::string(law::scope_name(law::Scope::kFile)),
                           .match = std::string(law::match_name(law::Match::kObject))};
  say(denial, asked, "the helper itself runs this program");
}

void by_what_would_move(Denial& denial, const Asked& asked, const law::Ruling& ruling) {
  denial.rule = ruling.beneath_is_protected ? protected_rule(*ruling.beneath)
                                            : exec_exclusion(*ruling.beneath);
  denial.limit = "L15";
  say(denial, asked,
      rule_text(*denial.rule) + " lies beneath it and would get a name that no rule holds");
}

void by_exec(Denial& denial, const Asked& asked, const law::Verdict& verdict,
             const law::Subject& subject, bool same_object) {
  denial.evidence = law::evidence_name(verdict.evidence);
  if (verdict.evidence.excluded) {
    denial.rule = exec_exclusion(*verdict.rule);
    if (verdict.overridden) denial.overridden = exec_allowance(*verdict.overridden);
    denial.others = verdict.others;
    if (verdict.rule->match == law::Match::kFolded && !same_object) denial.limit = "L12";
    denial.hint = "take the rule out of \"exec.deny\"";
  } else {
    denial.hint = "add the file, or a directory above it, to \"exec.allow\"";
  }
  say(denial, asked, law::describe(verdict, subject));
}

}  // namespace

std::string_view operation_name(law::Operation operation) noexcept {
  switch (operation) {
    case law::Operation::kRead:
      return "read";
    case law::Operation::kList:
      return "list";
    case law::Operation::kWrite:
      return "write";
    case law::Operation::kCreate:
      return "create";
    case law::Operation::kRemove:
      return "remove";
    case law::Operation::kRenameFrom:
      return "rename_from";
    case law::Operation::kRenameTo:
      return "rename_to";
    case law::Operation::kExecute:
      return "execute";
    case law::Operation::kMountReadOnly:
    case law::Operation::kMountWritable:
      return "mount_source";
  }
  return "unknown";
}

DenialRule protected_rule(const law::DecidingRule& rule) {
  return rule_of(rule, "fs", "protected");
}

DenialRule exec_exclusion(const law::DecidingRule& rule) {
  return rule_of(rule, "exec", "exec.deny");
}

DenialRule exec_allowance(const law::DecidingRule& rule) {
  return rule_of(rule, "exec",
                 rule.origin.kind == law::Scope::kAny ? "exec.default" : "exec.allow");
}

Denial denial_of(const Asked& asked, const WalkError& error) {
  Denial denial = begun(asked, walk_failure_name(error.reason));
  if (asked.real == nullptr) denial.stopped_at = stopped_at(error);
  if (error.sys_errno != 0) denial.error = error.sys_errno;
  denial.limit = limit_of(error.reason);
  std::string why(words_of(error.reason));
  if (error.reason == WalkFailure::kSystem && error.sys_errno != 0) {
    why += ": " + errno_words(error.sys_errno);
  }
  if (asked.real == nullptr && !error.place.empty() && error.place != asked.path) {
    why += " (at " + quoted(error.place) + ')';
  }
  say(denial, asked, why);
  return denial;
}

Denial denial_of(const Asked& asked, const law::Ruling& ruling, const law::Subject& subject,
                 const FileSystemVerdict& file_system, bool same_object) {
  Denial denial = begun(asked, law::reason_name(*ruling.refusal));
  switch (ruling.step) {
    case law::Step::kNullDevice:
      break;  // admits
    case law::Step::kPin:
      by_pin(denial, asked);
      break;
    case law::Step::kFileSystem:
      by_file_system(denial, asked, file_system, same_object);
      break;
    case law::Step::kMoves:
      denial.evidence = law::evidence_name(file_system.evidence);
      by_what_would_move(denial, asked, ruling);
      break;
    case law::Step::kExec:
      by_exec(denial, asked, *ruling.exec, subject, same_object);
      break;
  }
  return denial;
}

Denial denial_across(const Asked& asked, const DenialRule& from, const DenialRule& to) {
  Denial denial = begun(asked, law::reason_name(law::Reason::kCrossesMounts));
  denial.evidence = law::evidence_name({.allowed = true, .excluded = false});
  denial.rule = to;
  say(denial, asked,
      "the file is shown by " + rule_text(from) + " and the new name by " + rule_text(to) +
          ", which are two mounts in the jail");
  return denial;
}

namespace {

bool is_listed_as(MountClass mount_class, std::string_view list) noexcept {
  if (list == "readable_roots") return mount_class == MountClass::kReadable;
  if (list == "mounts") {
    return mount_class == MountClass::kMountReadWrite || mount_class == MountClass::kMountReadOnly;
  }
  return mount_class == MountClass::kWritable;
}

std::optional<DenialRule> shown_for_exec(const Snapshot& snapshot,
                                         const MountOperation& operation) {
  if (operation.mount_class != MountClass::kExecShown) return std::nullopt;
  for (const law::Allowance& rule : snapshot.exec().allowances()) {
    if (rule.scope() == law::Scope::kAny || rule.real() != operation.region) continue;
    return exec_allowance({.scope = rule.scope(), .real = rule.real(), .origin = rule.origin()});
  }
  return std::nullopt;
}

}  // namespace

DenialRule region_rule(const Snapshot& snapshot, const MountOperation& operation) {
  if (auto shown = shown_for_exec(snapshot, operation)) return *std::move(shown);
  DenialRule rule{.dimension = "fs",
                  .list = "floor",
                  .written = operation.written.str(),
                  .real = operation.region.str(),
                  .kind = "root",
                  .match = std::string(law::match_name(law::Match::kStored))};
  if (operation.mount_class == MountClass::kPin) rule.list = "pins";
  if (operation.mount_class == MountClass::kScratchTmpfs) rule.list = "scratch";
  for (const PolicyRegion& region : snapshot.regions()) {
    if (region.real != operation.region || !is_listed_as(operation.mount_class, region.list)) {
      continue;
    }
    rule.list = region.list;
    rule.layer = snapshot.paths_layer();
    rule.index = region.index;
    rule.written = region.written.str();
    if (region.list == "mounts") rule.kind = "mount";
    break;
  }
  return rule;
}

}  // namespace loom::guard
