#include "guard/support.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "guard/denial_of.h"
#include "guard/exec_denial.h"
#include "guard/file_system.h"
#include "guard/forwarding.h"
#include "guard/open_without_links.h"
#include "guard/program_search.h"
#include "guard/subject_of.h"
#include "guard/system_error.h"
#include "guard/user_access.h"
#include "guard/walk.h"

namespace loom::guard {
namespace {

// --- who wrote a file
// ------------------------------------------------------------------------------

// Whatever cannot be looked at counts as the user's.
bool is_the_users(const AbsolutePath& path) {
  const Opened found = open_without_links(path, 0);
  struct stat about {};
  if (!found.handle || ::fstat(found.handle.get(), &about) != 0) return true;
  return about.st_uid == ::geteuid() || user_may(found.handle.get(), W_OK);
}

bool is_the_users_link(const LinkFact& link) {
  struct stat about {};
  return ::lstat(link.place.str().c_str(), &about) != 0 || about.st_uid == ::geteuid();
}

bool user_has_a_hand(const Landing& file) {
  if (std::any_of(file.links().begin(), file.links().end(), is_the_users_link)) return true;
  for (AbsolutePath path = file.real();; path = path.parent()) {
    if (is_the_users(path)) return true;
    if (path.is_root()) return false;
  }
}

// The command is the helper's user too, without any privilege: what the user cannot change, a
// writable region does not let it change.
bool is_the_commands_to_change(const Guard& guard, const Landing& file) {
  return guard.payload_writes(file) && (::geteuid() == 0 || user_has_a_hand(file));
}

bool is_in_a_system_root(const Guard& guard, const AbsolutePath& real) {
  const std::vector<AbsolutePath>& floor = guard.floor();
  return std::any_of(floor.begin(), floor.end(), [&](const AbsolutePath& root) {
    return !root.is_root() && real.is_within(root);
  });
}

// --- what a program needs
// --------------------------------------------------------------------------

// A stub starts a tool, and the tool's shell what was chosen for it.
constexpr int kMaxForwards = 2;

enum class Role : std::uint8_t { kInterpreter, kLinker };

std::string_view role_name(Role role) noexcept {
  return role == Role::kInterpreter ? "interpreter" : "linker";
}

std::string_view not_admitted(Role role) noexcept {
  return role == Role::kInterpreter ? "interpreter_not_admitted" : "linker_not_admitted";
}

std::string words_for(const WalkError& error) {
  return error.sys_errno != 0 ? errno_words(error.sys_errno)
                              : std::string(walk_failure_name(error.reason));
}

class SupportSearch {
 public:
  SupportSearch(const Guard& guard, std::string_view argv0, const Landing& program,
                LinkerNames& linkers)
      : guard_(&guard), argv0_(argv0), program_(&program), unlisted_(&linkers) {}

  // Of the system. Once; later calls do nothing.
  void add_linkers();
  [[nodiscard]] Judged<void> follow(ProgramFile file);
  [[nodiscard]] std::vector<law::Subject> take() { return std::move(support_); }

 private:
  // A file that another one names.
  struct Need {
    const Landing* by = nullptr;
    std::string name{};
    Role role = Role::kInterpreter;
  };

  [[nodiscard]] bool supports() const { return guard_->snapshot().in_force().system_support; }
  [[nodiscard]] tl::unexpected<Denial> refused(const Need& need, std::string_view reason,
                                               const std::string& why, int error = 0) const;
  [[nodiscard]] Judged<Landing> land(const Need& need) const;
  [[nodiscard]] Judged<void> require_not_excluded(const Need& need,
                                                  const law::Subject& subject) const;
  [[nodiscard]] Judged<void> require_usable(const Need& need, const Landing& landed) const;
  [[nodiscard]] bool is_added(const Landing& landed) const;
  [[nodiscard]] bool may_support(const Need& need, const Landing& landed);
  [[nodiscard]] Judged<Landing> satisfy(const Need& need);
  [[nodiscard]] Judged<void> follow_forwarding(const Landing& program, int steps);
  [[nodiscard]] Judged<void> follow_to(const Landing& program, const std::string& target,
                                       int steps);
  [[nodiscard]] Judged<ProgramFile> format_of(const Need& need, Landing& interpreter) const;

  const Guard* guard_;
  std::string_view argv0_;
  const Landing* program_;
  LinkerNames* unlisted_;  // null once the system's linkers are in support_
  std::vector<law::Subject> support_;
};

tl::unexpected<Denial> SupportSearch::refused(const Need& need, std::string_view reason,
                                              const std::string& why, int error) const {
  const std::string by = need.by->real().str();
  Denial denial =
      exec_denial({.reason = reason,
                   .asked = argv0_,
                   .real = &program_->real(),
                   .why = quoted(by) + " needs the " + std::string(role_name(need.role)) + ' ' +
                          quoted(need.name) + ", which " + why,
                   .error = error});
  denial.needed_by =
      NeededBy{.program = by, .file = need.name, .role = std::string(role_name(need.role))};
  return tl::unexpected(std::move(denial));
}

Judged<Landing> SupportSearch::land(const Need& need) const {
  if (!need.name.starts_with('/')) {
    return refused(need, "interpreter_relative", "is no absolute path");
  }
  auto landed = walk(need.name);
  if (landed && landed->exists()) return std::move(*landed);
  const WalkError error =
      landed ? WalkError{.reason = WalkFailure::kMissing, .sys_errno = ENOENT} : landed.error();
  const bool exhausted = error.reason == WalkFailure::kResource;
  auto missing = refused(need, exhausted ? "resource" : not_admitted(need.role),
                         "cannot be reached: " + words_for(error), error.sys_errno);
  if (need.name.ends_with('\r')) {
    missing.value().hint = "end the first line with a newline alone, without a carriage return";
  }
  return missing;
}

Judged<void> SupportSearch::require_not_excluded(const Need& need,
                                                 const law::Subject& subject) const {
  const Snapshot& snapshot = guard_->snapshot();
  const auto verdict = law::judge(snapshot.exec(), subject);
  const auto hidden = law::deciding_exclusion(snapshot.protected_paths(), subject);
  if (!verdict.evidence.excluded && !hidden) return {};
  const DenialRule rule =
      verdict.evidence.excluded ? exec_exclusion(*verdict.rule) : protected_rule(*hidden);
  auto denial = refused(need, "support_excluded",
                        "is excluded by " + rule.list + '[' + std::to_string(rule.index) + "] " +
                            quoted(rule.written));
  denial.value().evidence =
      std::string(law::evidence_name({.allowed = verdict.evidence.allowed, .excluded = true}));
  denial.value().rule = rule;
  denial.value().others = verdict.others;
  if (verdict.overridden) denial.value().overridden = exec_allowance(*verdict.overridden);
  return denial;
}

Judged<void> SupportSearch::require_usable(const Need& need, const Landing& landed) const {
  if (const auto why = why_not_runnable(landed)) {
    return refused(need, not_admitted(need.role), *why, EACCES);
  }
  if (guard_->refusal_of(law::Operation::kRead, need.name, landed)) {
    return refused(need, not_admitted(need.role), "the jail does not show for reading", EACCES);
  }
  return {};
}

// Security: else a line "#!/any/binary" that the command writes into a script of its own would
// admit any binary. A linker runs nothing but what it is given, so anybody's program may name one.
bool SupportSearch::may_support(const Need& need, const Landing& landed) {
  if (!supports()) return false;
  const bool is_linker = need.role == Role::kLinker;
  if (is_linker && is_added(landed)) return true;
  if (is_system_authored(*guard_, landed)) {
    if (is_linker && is_linker_name(landed.leaf())) return true;
    if (is_system_authored(*guard_, *need.by)) return true;
  }
  if (!is_linker) return false;
  add_linkers();
  return is_added(landed);
}

Judged<Landing> SupportSearch::satisfy(const Need& need) {
  LOOM_TRY(Landing landed, land(need));
  law::Subject subject = subject_of(landed);
  LOOM_TRY_VOID(require_not_excluded(need, subject));
  LOOM_TRY_VOID(require_usable(need, landed));
  if (guard_->snapshot().exec().allows(subject)) return landed;
  if (may_support(need, landed)) {
    support_.push_back(std::move(subject));
    return landed;
  }
  auto denial = refused(need, not_admitted(need.role), "the exec table does not allow");
  denial.value().evidence = "none";
  denial.value().hint = "allow the file " + quoted(landed.real().str()) + " in the exec table";
  return denial;
}

Judged<ProgramFile> SupportSearch::format_of(const Need& need, Landing& interpreter) const {
  const auto file = interpreter.read();
  if (!file)
    return refused(need, not_admitted(need.role), "cannot be read", file.error().sys_errno);
  auto format = read_program(file->get(), guard_->programs());
  if (!format) {
    return refused(need, not_admitted(need.role), "cannot be read", format.error().sys_errno);
  }
  if (format->format != ProgramFormat::kUnknown) return std::move(*format);
  return refused(need, not_admitted(need.role), format->why, ENOEXEC);
}

Judged<void> SupportSearch::follow(ProgramFile file) {
  const Landing* by = program_;
  std::optional<Landing> held;
  const std::size_t most = guard_->programs().script.max_scripts;
  for (std::size_t scripts = 0; file.format == ProgramFormat::kScript; ++scripts) {
    const Need need{.by = by, .name = *file.needs, .role = Role::kInterpreter};
    if (scripts == most) {
      return refused(need, "too_many_interpreters",
                     "would be one script more in a row than the " + std::to_string(most) +
                         " that the kernel follows",
                     ELOOP);
    }
    LOOM_TRY(Landing interpreter, satisfy(need));
    LOOM_TRY(file, format_of(need, interpreter));
    held = std::move(interpreter);
    by = &*held;
  }
  LOOM_TRY_VOID(follow_forwarding(*by, kMaxForwards));
  if (!file.needs) return {};
  LOOM_TRY_VOID(satisfy({.by = by, .name = *file.needs, .role = Role::kLinker}));
  return {};
}

// What the program starts in its own place, whatever its arguments are. Only one of the system's
// is known to do nothing else.
Judged<void> SupportSearch::follow_forwarding(const Landing& program, int steps) {
  const auto& forwarding = guard_->programs().forwarding;
  if (steps == 0 || !forwarding || !is_system_authored(*guard_, program)) return {};
  for (const std::string& target : forwarding_targets(*forwarding, program.real())) {
    LOOM_TRY_VOID(follow_to(program, target, steps));
  }
  return {};
}

// A tool can be a script, and its interpreter the shell.
Judged<void> SupportSearch::follow_to(const Landing& program, const std::string& target,
                                      int steps) {
  LOOM_TRY(Landing landed, satisfy({.by = &program, .name = target, .role = Role::kInterpreter}));
  LOOM_TRY(const ProgramFile file, format_of({.by = &program, .name = target}, landed));
  if (file.format != ProgramFormat::kScript) return {};
  LOOM_TRY(const Landing interpreter,
           satisfy({.by = &landed, .name = *file.needs, .role = Role::kInterpreter}));
  return follow_forwarding(interpreter, steps - 1);
}

bool SupportSearch::is_added(const Landing& landed) const {
  return std::any_of(support_.begin(), support_.end(), [&landed](const law::Subject& known) {
    return known.real() == landed.real();
  });
}

void SupportSearch::add_linkers() {
  LinkerNames* const names = std::exchange(unlisted_, nullptr);
  if (names == nullptr || !supports() || !guard_->snapshot().exec().is_restrictive()) return;
  if (!guard_->programs().linker_is_a_program) return;
  for (const std::string& name : names->find()) {
    const auto landed = walk(name);
    if (!landed || landed->kind() != ObjectKind::kRegular || is_added(*landed)) continue;
    if (is_the_commands_to_change(*guard_, *landed)) continue;
    if (guard_->refusal_of(law::Operation::kRead, name, *landed)) continue;
    support_.push_back(subject_of(*landed));
  }
}

}  // namespace

bool is_system_authored(const Guard& guard, const Landing& file) {
  if (guard.payload_writes(file)) return false;
  return ::geteuid() == 0 ? is_in_a_system_root(guard, file.real()) : !user_has_a_hand(file);
}

Judged<std::vector<law::Subject>> find_support(const Guard& guard, std::string_view argv0,
                                               const Landing& program, const ProgramFile& file,
                                               LinkerNames& linkers) {
  SupportSearch search(guard, argv0, program, linkers);
  search.add_linkers();
  LOOM_TRY_VOID(search.follow(file));
  return search.take();
}

Judged<void> require_support(const Guard& guard, std::string_view argv0, const Landing& program,
                             const ProgramFile& file, LinkerNames& linkers) {
  return SupportSearch(guard, argv0, program, linkers).follow(file);
}

}  // namespace loom::guard
