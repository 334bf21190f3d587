#include "guard/name_search.h"

#include <dirent.h>
#include <loom/check.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "guard/directory_names.h"
#include "guard/file_system.h"
#include "guard/launch_refusal.h"

namespace loom::guard {
namespace {

constexpr std::size_t kMaxLevels = 256;  // as many directories as a walk goes through

mode_t mode_of(int directory, const std::string& name, EntryType told) {
  if (told == DT_DIR) return S_IFDIR;
  if (told != DT_UNKNOWN) return told == DT_REG ? S_IFREG : 0;
  struct stat about {};
  return ::fstatat(directory, name.c_str(), &about, kLookOnly) == 0 ? about.st_mode & S_IFMT : 0;
}

}  // namespace

NameSearch::NameSearch(const law::Table& table, Toll toll)
    : names_(table.exclusions()), toll_(std::move(toll)) {
  std::erase_if(names_,
                [](const law::Exclusion& rule) { return rule.scope() != law::Scope::kName; });
}

Judged<void> NameSearch::look_beneath(const law::Subject& root, int handle) {
  root_ = root.real();
  levels_.clear();
  levels_.push_back({});  // where what is said of the root goes
  LOOM_TRY_VOID(enter(handle, *root.passage().directory));
  while (levels_.size() > 1) LOOM_TRY_VOID(enter_next());
  if (levels_.front().leads) leading_.insert(*root.passage().directory);
  return {};
}

Judged<void> NameSearch::enter_next() {
  Level& level = levels_.back();
  if (level.directories.empty()) {
    leave();
    return {};
  }
  const std::string name = std::move(level.directories.back());
  level.directories.pop_back();
  const UniqueFd next = open_handle(level.handle.get(), name.c_str());
  if (!next && is_out_of_resources(errno)) return refuse_resource(errno, root_);
  struct stat about {};
  if (!next || ::fstat(next.get(), &about) != 0) return {};  // gone, or nobody gets there
  if (!S_ISDIR(about.st_mode)) return {};
  return enter(next.get(), identity_of(about));
}

// What cannot be looked through may hold anything.
Judged<void> NameSearch::enter(int handle, const FileIdentity& identity) {
  const bool loops = std::any_of(levels_.begin(), levels_.end(),
                                 [&](const Level& level) { return level.identity == identity; });
  Level level{.handle = {}, .identity = identity};
  if (!loops && levels_.size() <= kMaxLevels) level.handle = open_for_listing(handle);
  if (!loops && !level.handle && is_out_of_resources(errno)) return refuse_resource(errno, root_);
  if (!level.handle) {
    leading_.insert(identity);
    levels_.back().leads = true;
    return {};
  }
  LOOM_TRY_VOID(read(level));
  levels_.push_back(std::move(level));
  return {};
}

Judged<void> NameSearch::read(Level& level) const {
  std::size_t count = 0;
  const int listing = level.handle.get();
  const int error = each_name(listing, [&](std::string_view told, EntryType type) {
    ++count;
    std::string name(told);
    const mode_t mode = mode_of(listing, name, type);
    if (S_ISREG(mode)) level.leads = level.leads || is_excluded(name);
    if (S_ISDIR(mode)) level.directories.push_back(std::move(name));
    return true;
  });
  if (is_out_of_resources(error)) return refuse_resource(error, root_);
  if (error != 0) level.leads = true;
  return toll_(count, root_);
}

bool NameSearch::is_excluded(const std::string& name) const {
  auto path = AbsolutePath::parse('/' + name);
  LOOM_CHECK(path.has_value());  // a name of a directory holds no NUL
  const law::Subject file = law::Subject::file(*std::move(path));
  return std::any_of(names_.begin(), names_.end(),
                     [&](const law::Exclusion& rule) { return rule.holds(file).has_value(); });
}

void NameSearch::leave() {
  const Level done = std::move(levels_.back());
  levels_.pop_back();
  if (!done.leads) return;
  leading_.insert(done.identity);
  levels_.back().leads = true;
}

}  // namespace loom::guard
