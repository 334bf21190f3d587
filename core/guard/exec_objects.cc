#include "guard/exec_objects.h"

#include <loom/utf8.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "guard/directory_names.h"
#include "guard/doubtful_file_system.h"
#include "guard/exec_roots.h"
#include "guard/exec_spines.h"
#include "guard/file_system.h"
#include "guard/launch_refusal.h"
#include "guard/name_search.h"
#include "guard/reached.h"

namespace loom::guard {
namespace {

constexpr std::size_t kMaxDepth = 256;  // as many directories as a walk goes through

tl::unexpected<Denial> refuse_too_large(const std::string& what) {
  auto refused = refuse_launch("exec_table_too_large", what);
  refused.value().hint =
      "every directory with something excluded beneath it is listed: exclude directories rather "
      "than files deep inside, paths rather than bare names, or allow less";
  return refused;
}

// Whether excluded bare names count in a directory.
enum class BareNames : std::uint8_t {
  kIgnored,   // they are the guard's alone here
  kCounted,   // they are left out, wherever the command cannot write
  kSearched,  // likewise, and it is known where they are
};

// A directory that is being listed.
struct Listing {
  law::Subject directory;
  UniqueFd handle;
  std::vector<std::string> names;  // sorted backwards: the next one last
  BareNames bare_names;
};

}  // namespace

class ExecObjects::Walk {
 public:
  Walk(const law::KernelTable& table, const std::vector<MountOperation>& view,
       std::vector<MountFact> mounts, std::vector<ExecRule> frozen, LoweringCeilings ceilings)
      : table_(&table),
        view_(&view),
        replay_(view),
        mounts_(std::move(mounts)),
        frozen_(std::move(frozen)),
        ceilings_(std::move(ceilings)),
        search_(table.table(), [this](std::size_t names, const AbsolutePath& root) {
          return count_searched(names, root);
        }) {}

  using Found = Judged<std::optional<ExecObject>>;  // nothing: nothing here, or nothing more

  [[nodiscard]] Judged<ExecObject> next() {
    current_.reset();
    if (refused_) return tl::unexpected(*refused_);
    auto found = over_ ? Found(std::nullopt) : advance();
    if (!found) {
      refused_ = std::move(found).error();
      return tl::unexpected(*refused_);
    }
    if (*found) return **found;
    over_ = true;
    return ExecObject{.handle = -1, .directory = false, .listed = listed_, .support = support_};
  }

  [[nodiscard]] const std::vector<std::string>& doubtful_roots() const noexcept {
    return doubtful_;
  }

 private:
  [[nodiscard]] Judged<void> prepare();
  [[nodiscard]] Found advance();
  [[nodiscard]] Judged<void> check_time() const;

  [[nodiscard]] Found next_entry();
  [[nodiscard]] Found next_root();
  [[nodiscard]] Found next_file();
  [[nodiscard]] Found next_support();

  [[nodiscard]] bool is_covered(const ExecRoot& root) const;
  [[nodiscard]] bool shows_host(const AbsolutePath& path) const;
  [[nodiscard]] Judged<std::optional<Reached>> open_root(const ExecRoot& root) const;
  [[nodiscard]] Found meet(Reached object, BareNames bare_names);
  [[nodiscard]] Found meet_directory(Reached directory, BareNames bare_names);
  [[nodiscard]] Judged<bool> is_blocked(const Reached& directory, BareNames& bare_names);
  [[nodiscard]] Judged<void> count_searched(std::size_t names, const AbsolutePath& root);
  [[nodiscard]] bool is_being_listed(const FileIdentity& directory) const;
  [[nodiscard]] Judged<void> list(Reached directory, BareNames bare_names);
  [[nodiscard]] Judged<std::optional<std::vector<std::string>>> names_in(
      const AbsolutePath& directory, int handle);
  [[nodiscard]] Found admit(Reached object);
  [[nodiscard]] Found open_file(const AbsolutePath& real, const FileIdentity& frozen);
  void note_file_system(const Reached& object, bool is_root);

  const law::KernelTable* table_;
  const std::vector<MountOperation>* view_;
  ViewReplay replay_;
  std::vector<MountFact> mounts_;
  std::vector<ExecRule> frozen_;
  LoweringCeilings ceilings_;

  bool prepared_ = false;
  bool over_ = false;
  std::optional<Denial> refused_;
  std::chrono::steady_clock::time_point deadline_;
  ExecSpines spines_;
  std::vector<ExecRoot> roots_;
  std::size_t next_root_ = 0;
  std::size_t next_file_ = 0;
  std::size_t next_support_ = 0;
  std::vector<Listing> listings_;  // from a root down to where the walk is

  std::unordered_set<std::string> whole_;  // directories that were given, by path
  std::unordered_set<std::string> listed_paths_;
  NameSearch search_;
  std::size_t searched_ = 0;
  std::size_t entries_ = 0;
  std::size_t rules_ = 0;
  std::uint64_t listed_ = 0;
  std::uint64_t support_ = 0;
  std::vector<std::string> doubtful_;
  std::unordered_set<std::uint64_t> known_devices_;
  UniqueFd current_;
};

Judged<void> ExecObjects::Walk::prepare() {
  prepared_ = true;
  deadline_ = ceilings_.now() + ceilings_.time;
  LOOM_TRY(spines_, make_spines(*table_, *view_, mounts_));
  LOOM_TRY(roots_, exec_roots(*table_, *view_, frozen_));
  return {};
}

ExecObjects::Walk::Found ExecObjects::Walk::advance() {
  if (!prepared_) LOOM_TRY_VOID(prepare());
  const std::size_t files = table_->table().allowances().size();
  for (;;) {
    LOOM_TRY_VOID(check_time());
    Found found = std::optional<ExecObject>();
    if (!listings_.empty()) {
      found = next_entry();
    } else if (next_root_ < roots_.size()) {
      found = next_root();
    } else if (next_file_ < files) {
      found = next_file();
    } else if (next_support_ < table_->support().size()) {
      found = next_support();
    } else {
      return std::optional<ExecObject>();
    }
    if (!found || *found) return found;
  }
}

Judged<void> ExecObjects::Walk::check_time() const {
  if (ceilings_.now() <= deadline_) return {};
  return refuse_too_large("telling the kernel what may run took longer than " +
                          std::to_string(ceilings_.time.count()) + " ms");
}

ExecObjects::Walk::Found ExecObjects::Walk::next_root() {
  const ExecRoot& root = roots_[next_root_++];
  if (is_covered(root)) return std::optional<ExecObject>();
  LOOM_TRY(std::optional<Reached> object, open_root(root));
  if (!object) return std::optional<ExecObject>();
  note_file_system(*object, true);
  return meet(*std::move(object), root.named_inside ? BareNames::kCounted : BareNames::kIgnored);
}

bool ExecObjects::Walk::shows_host(const AbsolutePath& path) const {
  const MountOperation* const shown = replay_.effective(path);
  return shown != nullptr && binds_from_host(*shown);
}

// A rule holds for what is mounted inside its directory too, as long as the jail shows the host's
// directories all the way there, and the object has no other name where other rules would hold.
bool ExecObjects::Walk::is_covered(const ExecRoot& root) const {
  if (whole_.contains(root.real.str()) || listed_paths_.contains(root.real.str())) return true;
  if (root.other_name) return false;
  for (AbsolutePath at = root.real; !at.is_root();) {
    at = at.parent();
    if (!shows_host(at)) return false;
    if (whole_.contains(at.str())) return true;
  }
  return false;
}

// Nothing where nothing may run: a bind that does without what is gone, an allowance of nothing.
Judged<std::optional<Reached>> ExecObjects::Walk::open_root(const ExecRoot& root) const {
  auto found = reach(root.real, LinksOnTheWay::kRefused);
  if (!found) {
    if (root.optional && found.error().reason == WalkFailure::kSearchDenied) {
      return std::optional<Reached>();
    }
    return refuse_walk(found.error(), root.real);
  }
  if (!*found) {
    if (root.optional || root.allowance) return std::optional<Reached>();
    return refuse_redirected(root.real, "is not there any more");
  }
  if (root.frozen != FileIdentity{} && identity_of((*found)->about) != root.frozen) {
    return refuse_redirected(root.real, "is another object now");
  }
  return std::move(*found);
}

ExecObjects::Walk::Found ExecObjects::Walk::next_entry() {
  Listing& listing = listings_.back();
  if (listing.names.empty()) {
    listings_.pop_back();
    return std::optional<ExecObject>();
  }
  const std::string name = std::move(listing.names.back());
  listing.names.pop_back();
  UniqueFd handle = open_handle(listing.handle.get(), name.c_str());
  const int error = handle ? 0 : errno;
  if (is_out_of_resources(error)) return refuse_resource(error, listing.directory.real());
  struct stat about {};
  // What is gone or cannot be reached is no object.
  if (error != 0 || ::fstat(handle.get(), &about) != 0) return std::optional<ExecObject>();
  if (!S_ISDIR(about.st_mode) && !S_ISREG(about.st_mode)) return std::optional<ExecObject>();
  return meet(reached_in(listing.directory, name.c_str(), std::move(handle), about),
              listing.bare_names);
}

ExecObjects::Walk::Found ExecObjects::Walk::meet(Reached object, BareNames bare_names) {
  if (S_ISDIR(object.about.st_mode)) return meet_directory(std::move(object), bare_names);
  if (!S_ISREG(object.about.st_mode) || !admits_file(*table_, object.subject)) {
    return std::optional<ExecObject>();
  }
  return admit(std::move(object));
}

// What is allowed inside an excluded directory is excluded too.
ExecObjects::Walk::Found ExecObjects::Walk::meet_directory(Reached directory,
                                                           BareNames bare_names) {
  if (!admits_inside(*table_, directory.subject)) return std::optional<ExecObject>();
  LOOM_TRY(const bool blocked, is_blocked(directory, bare_names));
  if (!blocked) {
    whole_.insert(directory.subject.real().str());
    return admit(std::move(directory));
  }
  // Bind mounts can make a directory its own descendant. Its objects are the same at any depth.
  if (is_being_listed(*directory.subject.passage().directory)) return std::optional<ExecObject>();
  LOOM_TRY_VOID(list(std::move(directory), bare_names));
  return std::optional<ExecObject>();
}

// What was searched is known for whatever lies in it.
Judged<bool> ExecObjects::Walk::is_blocked(const Reached& directory, BareNames& bare_names) {
  const law::Subject& subject = directory.subject;
  const bool counts = bare_names != BareNames::kIgnored && must_look_for_names(spines_, subject);
  if (counts && bare_names == BareNames::kCounted) {
    LOOM_TRY_VOID(search_.look_beneath(subject, directory.handle.get()));
    bare_names = BareNames::kSearched;
  }
  return leads_to_an_excluded_name(spines_, subject) || is_above_an_exclusion(spines_, subject) ||
         leads_to_an_alias(spines_, subject) ||
         (counts && search_.leads_to_one(*subject.passage().directory));
}

bool ExecObjects::Walk::is_being_listed(const FileIdentity& directory) const {
  return std::any_of(listings_.begin(), listings_.end(), [&](const Listing& listing) {
    return *listing.directory.passage().directory == directory;
  });
}

// Descends into a directory. One that cannot be listed is admitted nowhere.
Judged<void> ExecObjects::Walk::list(Reached directory, BareNames bare_names) {
  if (directory.subject.passage().passed.size() >= kMaxDepth) return {};
  UniqueFd handle = open_for_listing(directory.handle.get());
  const int error = handle ? 0 : errno;
  const AbsolutePath& real = directory.subject.real();
  if (is_out_of_resources(error)) return refuse_resource(error, real);
  if (error != 0) return {};
  LOOM_TRY(auto names, names_in(real, handle.get()));
  if (!names) return {};
  ++listed_;
  listed_paths_.insert(real.str());
  listings_.push_back({.directory = std::move(directory.subject),
                       .handle = std::move(handle),
                       .names = *std::move(names),
                       .bare_names = bare_names});
  return {};
}

// The names to go, the first one last; nothing when the kernel does not say all of them.
Judged<std::optional<std::vector<std::string>>> ExecObjects::Walk::names_in(
    const AbsolutePath& directory, int handle) {
  std::vector<std::string> names;
  const int error = each_name(handle, [&](std::string_view name, EntryType) {
    names.emplace_back(name);
    return ++entries_ <= ceilings_.entries;
  });
  if (entries_ > ceilings_.entries) {
    return refuse_too_large("more than " + std::to_string(ceilings_.entries) +
                            " names lie in directories that are listed, the last of them " +
                            escaped(directory.str()));
  }
  if (is_out_of_resources(error)) return refuse_resource(error, directory);
  if (error != 0) return std::optional<std::vector<std::string>>();
  LOOM_TRY_VOID(check_time());
  std::sort(names.begin(), names.end(), std::greater<>());
  return std::optional(std::move(names));
}

Judged<void> ExecObjects::Walk::count_searched(std::size_t names, const AbsolutePath& root) {
  searched_ += names;
  if (searched_ > ceilings_.searched) {
    return refuse_too_large("an excluded bare name was looked for among more than " +
                            std::to_string(ceilings_.searched) + " names, the last of them in " +
                            escaped(root.str()));
  }
  return check_time();
}

ExecObjects::Walk::Found ExecObjects::Walk::next_file() {
  const law::Allowance& rule = table_->table().allowances()[next_file_++];
  if (rule.scope() != law::Scope::kFile) return std::optional<ExecObject>();
  const auto frozen = std::find_if(frozen_.begin(), frozen_.end(), [&](const ExecRule& each) {
    return each.scope == ExecScope::kFile && each.real == rule.real();
  });
  return open_file(rule.real(), frozen == frozen_.end() ? FileIdentity{} : frozen->identity);
}

ExecObjects::Walk::Found ExecObjects::Walk::next_support() {
  Found found = open_file(table_->support()[next_support_++], {});
  if (found && *found) ++support_;
  return found;
}

// What is allowed is one file: a directory in its place is not, nor is anything in it.
ExecObjects::Walk::Found ExecObjects::Walk::open_file(const AbsolutePath& real,
                                                      const FileIdentity& frozen) {
  if (!admits_file(*table_, law::Subject::file(real))) return std::optional<ExecObject>();
  auto found = reach(real, LinksOnTheWay::kRefused);
  if (!found) return refuse_walk(found.error(), real);
  if (!*found || !S_ISREG((*found)->about.st_mode)) return std::optional<ExecObject>();
  if (!admits_file(*table_, (*found)->subject)) return std::optional<ExecObject>();
  if (frozen != FileIdentity{} && identity_of((*found)->about) != frozen) {
    return refuse_redirected(real, "is another file now");
  }
  return admit(**std::move(found));
}

ExecObjects::Walk::Found ExecObjects::Walk::admit(Reached object) {
  if (++rules_ > ceilings_.rules) {
    return refuse_too_large("it comes to more than " + std::to_string(ceilings_.rules) +
                            " files and directories, the last of them " +
                            escaped(object.subject.real().str()));
  }
  note_file_system(object, false);
  current_ = std::move(object.handle);
  return std::optional(ExecObject{.handle = current_.get(),
                                  .directory = S_ISDIR(object.about.st_mode),
                                  .listed = 0,
                                  .support = 0});
}

void ExecObjects::Walk::note_file_system(const Reached& object, bool is_root) {
  const bool is_new = known_devices_.insert(identity_of(object.about).device).second;
  if (!is_new && !is_root) return;
  if (const auto name = doubtful_file_system(object.handle.get())) {
    doubtful_.push_back(escaped(object.subject.real().str()) + " lies on " + std::string(*name) +
                        ", which may not honour a rule");
  }
}

ExecObjects::ExecObjects(const law::KernelTable& table, const std::vector<MountOperation>& view,
                         std::vector<MountFact> mounts, std::vector<ExecRule> frozen,
                         LoweringCeilings ceilings)
    : walk_(std::make_unique<Walk>(table, view, std::move(mounts), std::move(frozen),
                                   std::move(ceilings))) {}

ExecObjects::~ExecObjects() = default;
ExecObjects::ExecObjects(ExecObjects&&) noexcept = default;
ExecObjects& ExecObjects::operator=(ExecObjects&&) noexcept = default;

Judged<ExecObject> ExecObjects::next() { return walk_->next(); }

const std::vector<std::string>& ExecObjects::doubtful_roots() const noexcept {
  return walk_->doubtful_roots();
}

}  // namespace loom::guard
