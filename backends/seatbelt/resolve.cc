#include "resolve.h"

#include <loom/utf8.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "machine.h"
#include "platform.h"
#include "spellings.h"

namespace loom::seatbelt {
namespace {

// How many links stage 2 may stand behind; the kernel follows fewer.
constexpr std::size_t kMaxLinks = 40;

class Facts {
 public:
  explicit Facts(const HostFacts& facts) {
    by_path_.reserve(facts.paths.size());
    for (const PathFact& fact : facts.paths) by_path_.try_emplace(fact.path.str(), &fact);
  }

  [[nodiscard]] Result<Place> look(PathRole role, const AbsolutePath& path) const {
    const auto found = by_path_.find(path.str());
    if (found == by_path_.end()) {
      return fail(ErrorCode::kInvalidRequest, std::string(path_role_name(role)) + ": " +
                                                  escaped(path.str()) +
                                                  " (not among the surveyed paths)");
    }
    const PathFact& fact = *found->second;
    return Place{.written = path,
                 .real = fact.real,
                 .identity = fact.kind == PathKind::kMissing ? FileIdentity{} : fact.identity,
                 .parent_identity = fact.parent_identity,
                 .kind = fact.kind,
                 .error = fact.error,
                 .links = fact.links};
  }

  [[nodiscard]] Result<std::vector<Place>> look(PathRole role,
                                                const std::vector<AbsolutePath>& paths) const {
    std::vector<Place> places;
    places.reserve(paths.size());
    for (const AbsolutePath& path : paths) {
      LOOM_TRY(Place place, look(role, path));
      places.push_back(std::move(place));
    }
    return places;
  }

 private:
  std::unordered_map<std::string_view, const PathFact*> by_path_;
};

Result<std::vector<Place>> user_directories(const Facts& facts, ByteView backend) {
  LOOM_TRY(const MachineFacts machine, decode_machine_facts(backend));
  std::vector<Place> places;
  for (const std::string& text : machine.user_directories) {
    LOOM_TRY(const AbsolutePath directory, AbsolutePath::parse(text));
    LOOM_TRY(Place place, facts.look(PathRole::kPiece, directory));
    places.push_back(std::move(place));
  }
  return places;
}

Result<void> resolve_scratch(const PlanRequest& request, const Facts& facts,
                             ResolvedPolicy& policy) {
  if (const auto& path = request.policy.scratch.host_path) {
    LOOM_TRY(policy.host_scratch, facts.look(PathRole::kScratch, *path));
    return {};
  }
  if (!request.private_scratch) {
    return fail(ErrorCode::kInvalidRequest, "scratch: no private directory was made for it");
  }
  policy.private_scratch = request.private_scratch;
  return {};
}

}  // namespace

Result<ResolvedPolicy> resolve(const PlanRequest& request) {
  const Facts facts(request.facts);
  LOOM_TRY(const AbsolutePath stage2_path, AbsolutePath::parse(request.facts.stage2.path));
  LOOM_TRY(Place stage2, facts.look(PathRole::kPiece, stage2_path));
  ResolvedPolicy policy{.stage2 = std::move(stage2)};
  for (const std::string_view root : kSystemView) {
    LOOM_TRY(Place place, facts.look(PathRole::kSystemRoot, known_path(root)));
    policy.system_view.push_back(std::move(place));
  }
  LOOM_TRY(policy.readable, facts.look(PathRole::kReadableRoot, request.policy.readable_roots));
  LOOM_TRY(policy.writable, facts.look(PathRole::kWritableRoot, request.policy.writable_roots));
  LOOM_TRY(policy.protected_paths,
           facts.look(PathRole::kProtected, request.policy.protected_paths));
  for (const ExplicitMount& mount : request.policy.mounts) {
    LOOM_TRY(Place at, facts.look(PathRole::kMount, mount.path));
    policy.mounts.push_back(
        {.at = std::move(at), .writable = mount.writable, .required = mount.required});
  }
  LOOM_TRY_VOID(resolve_scratch(request, facts, policy));
  LOOM_TRY(policy.user_directories, user_directories(facts, request.facts.backend));
  return policy;
}

std::vector<AbsolutePath> stage2_spellings(const ResolvedPolicy& policy) {
  std::vector<AbsolutePath> paths{policy.stage2.real};
  for (const LinkFact& link : policy.stage2.links) {
    if (paths.size() > kMaxLinks) break;
    paths.push_back(link.place);
  }
  sort_unique(paths);
  return paths;
}

std::vector<AbsolutePath> own_writable(const ResolvedPolicy& policy) {
  std::vector<AbsolutePath> regions;
  if (policy.private_scratch) regions.push_back(*policy.private_scratch);
  for (const Place& directory : policy.user_directories) regions.push_back(directory.real);
  return regions;
}

}  // namespace loom::seatbelt
