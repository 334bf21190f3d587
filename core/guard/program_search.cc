#include "guard/program_search.h"

#include <loom/utf8.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "guard/denial_of.h"
#include "guard/exec_denial.h"
#include "guard/file_system.h"
#include "guard/user_access.h"
#include "guard/walk.h"

namespace loom::guard {
namespace {

Denial not_found(std::string_view argv0, const std::string& where, int error) {
  return exec_denial({.reason = "not_found",
                      .asked = argv0,
                      .why = quoted(argv0) + " is not there" + where,
                      .error = error});
}

Denial not_runnable(std::string_view argv0, const AbsolutePath& real, const std::string& why) {
  return exec_denial({.reason = "not_executable",
                      .asked = argv0,
                      .real = &real,
                      .why = quoted(real.str()) + ' ' + why,
                      .error = EACCES});
}

Denial walk_refusal(std::string_view argv0, const WalkError& error) {
  return denial_of({.operation = law::Operation::kExecute, .path = argv0}, error);
}

// A trailing slash after a file counts as nothing found: no program has such a name.
bool says_nothing_there(WalkFailure reason) noexcept {
  return reason == WalkFailure::kMissing || reason == WalkFailure::kNotADirectory;
}

std::string joined(std::string_view cwd, std::string_view name) {
  if (name.starts_with('/')) return std::string(name);
  std::string text(cwd.empty() ? "/" : cwd);
  text += '/';
  text += name;
  return text;
}

Judged<Landing> find_by_path(std::string_view argv0, std::string_view cwd) {
  const std::string path = joined(cwd, argv0);
  auto landed = walk(path);
  if (!landed && says_nothing_there(landed.error().reason)) {
    return tl::unexpected(not_found(argv0, {}, landed.error().sys_errno));
  }
  if (!landed) return tl::unexpected(walk_refusal(argv0, landed.error()));
  if (!landed->exists()) return tl::unexpected(not_found(argv0, {}, ENOENT));
  if (const auto why = why_not_runnable(*landed)) {
    return tl::unexpected(not_runnable(argv0, landed->real(), *why));
  }
  return std::move(*landed);
}

// Security: an entry that the command can write would let one run choose the program of the next.
bool may_search(const Guard& guard, const AbsolutePath& entry) {
  const auto directory = walk(entry.str());
  return directory && directory->kind() == ObjectKind::kDirectory &&
         !guard.payload_writes(*directory);
}

// What the jail does not show is nothing that a search inside would find. What is excluded is not
// passed over: that would run another program of the name instead.
std::optional<Denial> why_not_seen(const Guard& guard, std::string_view argv0,
                                   const Landing& landing) {
  auto denial = guard.refusal_of(law::Operation::kRead, argv0, landing);
  if (!denial) return std::nullopt;
  if (denial->reason == law::reason_name(law::Reason::kNotAllowed) ||
      denial->reason == law::reason_name(law::Reason::kNotAHostObject)) {
    denial->op = "execute";
    return denial;
  }
  return std::nullopt;
}

Judged<Landing> find_by_name(const Guard& guard, std::string_view argv0) {
  std::optional<Denial> remembered;
  for (const AbsolutePath& entry : guard.snapshot().search().all) {
    auto landed = walk(joined(entry.str(), argv0));
    if (!landed && landed.error().reason == WalkFailure::kResource) {
      return tl::unexpected(walk_refusal(argv0, landed.error()));
    }
    if (!landed || !landed->exists() || !may_search(guard, entry)) continue;
    if (guard.payload_writes(*landed)) continue;
    if (const auto why = why_not_runnable(*landed)) {
      if (!remembered) remembered = not_runnable(argv0, landed->real(), *why);
      continue;
    }
    auto unseen = why_not_seen(guard, argv0, *landed);
    if (!unseen) return std::move(*landed);
    if (!remembered) remembered = std::move(*unseen);
  }
  if (remembered) return tl::unexpected(*std::move(remembered));
  return tl::unexpected(not_found(argv0, " on the search path", ENOENT));
}

}  // namespace

std::optional<std::string> why_not_runnable(const Landing& landing) {
  if (landing.kind() == ObjectKind::kDirectory) return "is a directory";
  if (landing.kind() != ObjectKind::kRegular) return "is no regular file";
  if (is_mounted_noexec(landing.object())) return "lies on a file system mounted noexec";
  if (!user_may(landing.object(), X_OK)) return "may not be executed by this user";
  return std::nullopt;
}

Judged<Landing> find_program(const Guard& guard, std::string_view argv0, std::string_view cwd) {
  if (argv0.find('/') != std::string_view::npos) return find_by_path(argv0, cwd);
  // Names of directories, and of nothing; no search path has a program under them.
  if (argv0.empty() || argv0 == "." || argv0 == "..") {
    return tl::unexpected(not_found(argv0, " on the search path", ENOENT));
  }
  return find_by_name(guard, argv0);
}

}  // namespace loom::guard
