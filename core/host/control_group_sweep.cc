#include <dirent.h>
#include <fcntl.h>
#include <loom/utf8.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "host/control_group_base.h"
#include "host/control_group_files.h"
#include "host/control_group_text.h"
#include "host/errno_text.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxLeftovers = 10'000;  // of one sweep; more wait for the next

// EPERM means another user's, and alive.
bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

bool is_populated(int group) {
  const auto events = read_control_file(group, "cgroup.events");
  return events && keyed_number(*events, "populated").value_or(0) != 0;
}

Result<std::vector<std::string>> groups_of_the_gone(const std::string& base) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(base.c_str()), &::closedir);
  if (!listing) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "list " + escaped(base) + ": " + errno_text(error), error);
  }
  std::vector<std::string> names;
  while (names.size() < kMaxLeftovers) {
    const dirent* const entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    const auto process = process_of_group_name(entry->d_name);
    if (process && is_gone(*process)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// False when it is no leftover after all: a file, a link, in use, or swept by another helper.
Result<bool> sweep_one(int base, const std::string& name) {
  const auto group = open_control_directory_at(base, name);
  const int error = group ? 0 : group.error().sys_errno;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) return false;
  if (!group) return tl::unexpected(group.error());
  if (is_populated(group->get())) return false;
  return remove_control_directory(base, name);
}

}  // namespace

Result<Swept> sweep_control_groups(const std::string& base) {
  LOOM_TRY(const std::vector<std::string> names, groups_of_the_gone(base));
  LOOM_TRY(const UniqueFd directory, open_control_directory(base));
  Swept swept;
  for (const std::string& name : names) {
    const auto gone = sweep_one(directory.get(), name);
    if (!gone) swept.problems.push_back(name + ": " + gone.error().message);
    if (gone && *gone) ++swept.removed;
  }
  return swept;
}

}  // namespace loom::host
