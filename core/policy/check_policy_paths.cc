#include "policy/check_policy_paths.h"

#include <loom/utf8.h>

#include <algorithm>
#include <set>
#include <string>

namespace loom {
namespace {

bool has_dotdot_segment(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

Result<void> check_mount_forms(const std::vector<PolicyMountPath>& mounts) {
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string_view written = mounts[i].where.written;
    const std::string place = "mounts[" + std::to_string(i) + "].path: " + quoted(written);
    // Where a path may begin with a drive, it has other separators too.
    const std::string spelled = spell_drive_path(written).value_or(std::string(written));
    if (spelled != "/" && spelled.back() == '/') return refuse_policy(place + " ends in a slash");
    if (has_dotdot_segment(spelled)) return refuse_policy(place + " has a \"..\" segment");
  }
  std::set<std::string_view> seen;
  for (const PolicyMountPath& mount : mounts) {
    if (!seen.insert(mount.where.path.str()).second) {
      return refuse_policy("mounts: path " + quoted(mount.where.written) + " is named twice");
    }
  }
  return {};
}

// A path that takes part in the search for one path above another: a mount, or what stands for one,
// against the entries of a list.
struct Contender {
  const PolicyPath* entry = nullptr;
  bool is_mount = false;
};

// Order in which everything below a path follows that path at once: '/' sorts before every other
// byte.
bool comes_before(const Contender& left, const Contender& right) {
  const std::string& a = left.entry->path.str();
  const std::string& b = right.entry->path.str();
  const auto [at, bt] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (bt == b.end()) return at == a.end() && left.is_mount && !right.is_mount;
  if (at == a.end()) return true;
  if (*at == '/' || *bt == '/') return *at == '/' && *bt != '/';
  return static_cast<unsigned char>(*at) < static_cast<unsigned char>(*bt);
}

// The paths above (or equal to) the one the sweep has reached, of one sort.
class Above {
 public:
  // The nearest path that covers `path`, or null. Paths must come in sweep order.
  const PolicyPath* find(const AbsolutePath& path) {
    while (!open_.empty() && !path.is_within(open_.back()->path)) open_.pop_back();
    return open_.empty() ? nullptr : open_.back();
  }
  void push(const PolicyPath& entry) { open_.push_back(&entry); }

 private:
  std::vector<const PolicyPath*> open_;
};

struct Clash {
  const PolicyPath* mount = nullptr;
  const PolicyPath* entry = nullptr;
};

// The first mount that is equal to or above an entry or, `either_way`, below one. Null pointers:
// none.
Clash find_clash(std::vector<Contender> contenders, bool either_way) {
  std::sort(contenders.begin(), contenders.end(), comes_before);
  Above mounts;
  Above entries;
  for (const Contender& contender : contenders) {
    const PolicyPath* mount = mounts.find(contender.entry->path);
    const PolicyPath* entry = entries.find(contender.entry->path);
    if (!contender.is_mount && mount != nullptr) return {mount, contender.entry};
    if (contender.is_mount && either_way && entry != nullptr) return {contender.entry, entry};
    (contender.is_mount ? mounts : entries).push(*contender.entry);
  }
  return {};
}

std::vector<Contender> contenders_of(const std::vector<PolicyPath>& entries) {
  std::vector<Contender> contenders;
  for (const PolicyPath& entry : entries) contenders.push_back({&entry, false});
  return contenders;
}

Result<void> check_protected_overlap(const PolicyPaths& paths) {
  std::vector<Contender> contenders = contenders_of(paths.protected_paths);
  for (const PolicyMountPath& mount : paths.mounts) contenders.push_back({&mount.where, true});
  const Clash clash = find_clash(std::move(contenders), /*either_way=*/true);
  if (clash.mount == nullptr) return {};
  return refuse_policy("mount " + quoted(clash.mount->written) + " overlaps protected path " +
                       quoted(clash.entry->written));
}

Result<void> check_read_only_cover(const PolicyPaths& paths) {
  std::vector<Contender> contenders = contenders_of(paths.writable_roots);
  for (const PolicyMountPath& mount : paths.mounts) {
    if (!mount.writable) contenders.push_back({&mount.where, true});
  }
  const Clash clash = find_clash(std::move(contenders), /*either_way=*/false);
  if (clash.mount == nullptr) return {};
  return refuse_policy("read-only path " + quoted(clash.mount->written) + " covers writable root " +
                       quoted(clash.entry->written));
}

}  // namespace

std::string quoted(std::string_view text) { return '"' + escaped(text) + '"'; }

tl::unexpected<Error> refuse_policy(std::string message) {
  return fail(ErrorCode::kInvalidRequest, "policy: " + std::move(message));
}

Result<void> check_allowed_paths(const std::vector<PolicyPath>& allowed,
                                 const std::vector<PolicyPath>& protected_paths) {
  std::vector<Contender> contenders = contenders_of(allowed);
  for (const PolicyPath& entry : protected_paths) contenders.push_back({&entry, true});
  const Clash clash = find_clash(std::move(contenders), /*either_way=*/false);
  if (clash.mount == nullptr) return {};
  return refuse_policy("exec.allow: " + quoted(clash.entry->written) +
                       " can never run, it is or lies under protected path " +
                       quoted(clash.mount->written));
}

Result<void> check_policy_paths(const PolicyPaths& paths) {
  LOOM_TRY_VOID(check_mount_forms(paths.mounts));
  LOOM_TRY_VOID(check_protected_overlap(paths));
  return check_read_only_cover(paths);
}

}  // namespace loom
