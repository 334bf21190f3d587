#include "host/control_group.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/stat.h>

#include <cerrno>

#include "host/control_group_files.h"
#include "host/control_group_text.h"
#include "host/enter_control_group.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

// What the errors below a base leave to say.
tl::unexpected<Error> in_directory(const std::string& path, Error error) {
  error.message = "control group " + escaped(path) + ": " + error.message;
  return tl::unexpected(std::move(error));
}

Result<UniqueFd> open_base(const std::string& base) {
  auto directory = open_control_directory(base);
  if (directory) return directory;
  // The first thing that is looked for in it.
  directory.error().message = std::string(kSubtreeControl) + ": " + directory.error().message;
  return directory;
}

// Whatever our creation mask takes away: we have to work in it.
bool make_one(int base, const char* name) {
  static constexpr mode_t kMode = 0755;
  return ::mkdirat(base, name, kMode) == 0 && ::fchmodat(base, name, kMode, 0) == 0;
}

Result<void> make_directory(int base, const std::string& name) {
  if (make_one(base, name.c_str())) return {};
  if (errno == EEXIST) {
    LOOM_TRY(const bool gone, remove_control_directory(base, name));
    if (!gone) return fail(ErrorCode::kSystem, "make " + name + ": another run is in it", EEXIST);
    if (make_one(base, name.c_str())) return {};
  }
  const int error = errno;
  return fail(ErrorCode::kSystem, "make " + name + ": " + errno_text(error), error);
}

Result<UniqueFd> make_and_open(int base, const std::string& name) {
  LOOM_TRY_VOID(make_directory(base, name));
  return open_control_directory_at(base, name);
}

// Whether `name` is still this directory, or already another of that name.
bool is_still(int directory, int base, const std::string& name) {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(directory, &ours) == 0 &&
         ::fstatat(base, name.c_str(), &theirs, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

// A ceiling is what the kernel has, not what was written. It rounds down to whole pages.
Result<void> check_ceiling(int directory, const ControlFileText& asked) {
  LOOM_TRY(const std::string text, read_control_file(directory, asked.file.c_str()));
  const auto most = single_number(asked.text);
  const auto held = single_number(text);
  if (!most || (held && *held <= *most)) return {};
  return fail(ErrorCode::kSystem, asked.file + ": holds another value than was written");
}

std::optional<std::string> read_if_there(int directory, const char* name) {
  auto text = read_control_file(directory, name);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// Of a file, or of a whole group: the kernel says ENODEV where the file was opened before.
bool was_removed(const Error& error) noexcept {
  return error.sys_errno == ENOENT || error.sys_errno == ENODEV;
}

}  // namespace

Result<ControlGroup> ControlGroup::make(const std::string& base, std::uint64_t id, pid_t child,
                                        const Ceilings& ceilings) {
  const std::string name = "exec-" + std::to_string(id) + '-' + std::to_string(child);
  auto parent = open_base(base);
  if (!parent) return in_directory(base, parent.error());
  const auto ready = ceilings == Ceilings{} ? Result<void>() : switch_controllers_on(parent->get());
  if (!ready) return in_directory(base, ready.error());
  auto directory = make_and_open(parent->get(), name);
  if (!directory) return in_directory(base, directory.error());
  ControlGroup group(base + '/' + name, std::move(*parent), std::move(*directory));
  const auto limited = group.limit(ceilings);
  if (limited) return group;
  static_cast<void>(group.try_remove());
  return in_directory(group.path(), limited.error());
}

Result<void> ControlGroup::limit(const Ceilings& ceilings) {
  for (const ControlFileText& one : ceiling_texts(ceilings)) {
    auto written = write_control_file(directory_.get(), one.file.c_str(), one.text);
    if (!written && (one.required || written.error().sys_errno != ENOENT)) return written;
    if (written) LOOM_TRY_VOID(check_ceiling(directory_.get(), one));
  }
  return {};
}

Result<void> ControlGroup::enter(pid_t child) {
  const auto asked = enter_control_group(directory_.get(), child);
  if (!asked) return in_directory(path_, asked.error());
  const auto procs = read_control_file(directory_.get(), "cgroup.procs");
  if (!procs) return in_directory(path_, procs.error());
  if (lists_process(*procs, child)) return {};
  return fail(ErrorCode::kSystem, "control group " + escaped(path_) +
                                      ": cgroup.procs: does not list the child after the entry");
}

ControlGroupUse ControlGroup::use() const {
  ControlGroupUse use;
  if (const auto text = read_if_there(directory_.get(), "memory.peak")) {
    use.peak_memory_bytes = single_number(*text);
  }
  if (const auto text = read_if_there(directory_.get(), "memory.events")) {
    use.out_of_memory_kills = kills_at_own_ceiling(*text);
  }
  // Of its own ceiling alone since 6.11; before that, of those above it too.
  for (const char* file : {"pids.events.local", "pids.events"}) {
    if (use.denied_forks) break;
    if (const auto text = read_if_there(directory_.get(), file)) {
      use.denied_forks = keyed_number(*text, "max");
    }
  }
  return use;
}

void ControlGroup::kill_all() noexcept {
  static_cast<void>(write_control_file(directory_.get(), "cgroup.kill", "1"));
}

Result<bool> ControlGroup::try_remove() {
  const std::string name = path_.substr(path_.rfind('/') + 1);
  if (!is_still(directory_.get(), base_.get(), name)) return true;
  auto gone = remove_control_directory(base_.get(), name);
  if (!gone) return in_directory(path_.substr(0, path_.rfind('/')), gone.error());
  return gone;
}

Result<ControlGroup> make_and_enter(const std::string& base, std::uint64_t id, pid_t child,
                                    const Ceilings& ceilings) {
  for (int tries = 1;; ++tries) {
    auto group = ControlGroup::make(base, id, child, ceilings);
    if (!group && was_removed(group.error()) && tries < kEntryTries) continue;
    if (!group) return group;
    const auto entered = group->enter(child);
    if (entered) return group;
    static_cast<void>(group->try_remove());
    if (!was_removed(entered.error()) || tries == kEntryTries) {
      return tl::unexpected(entered.error());
    }
  }
}

}  // namespace loom::host
