#include "layers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "platform.h"
#include "spellings.h"

namespace loom::seatbelt {
namespace {

// What decides at one region among roots and scratch.
struct Grant {
  bool writable = false;
  bool ours = false;                      // not the policy's: no mount is meant to cover it
  std::optional<std::size_t> constant{};  // in kSystemView
  AbsolutePath written;
  FileIdentity identity{};
  FileIdentity parent_identity{};
};

using Grants = std::map<std::string_view, Grant>;  // by their regions' texts

// A grant in the order of the rules: a directory comes before what lies in it, and of two names
// that rules take for one the writable one first, since a denial is to hold.
struct Laid {
  std::string place{};  // folded
  std::string_view region{};
  const Grant* grant = nullptr;
};
bool comes_before(const Laid& a, const Laid& b) {
  if (a.place != b.place) return a.place < b.place;
  if (a.grant->writable != b.grant->writable) return a.grant->writable;
  return a.region < b.region;
}

// What the roots say of a place, whatever its name's spelling.
struct State {
  bool writable = false;
  bool denied = false;  // or inside one that is
};

Grant grant_of(const Place& place, bool writable) {
  return {.writable = writable,
          .ours = false,
          .constant = std::nullopt,
          .written = place.written,
          .identity = place.identity,
          .parent_identity = place.parent_identity};
}

Grant own_grant(const AbsolutePath& region, bool writable) {
  return {.writable = writable, .ours = true, .constant = std::nullopt, .written = region};
}

std::size_t index_of(const std::vector<AbsolutePath>& sorted, std::string_view path) {
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), path,
                       [](const AbsolutePath& a, std::string_view text) { return a.str() < text; });
  return static_cast<std::size_t>(found - sorted.begin());
}

class Laying {
 public:
  explicit Laying(const ResolvedPolicy& policy) : policy_(&policy) {}

  [[nodiscard]] Layers run() {
    list_regions();
    fill_grants();
    order_grants();
    lay_ground();
    for (const Laid& laid : laid_) add_grant(laid);
    order_mounts();
    lay_mounts();
    list_written();
    return std::move(layers_);
  }

 private:
  void list_regions() {
    std::vector<AbsolutePath>& writable = layers_.writable_roots;
    for (const Place& place : policy_->writable) writable.push_back(place.real);
    if (policy_->host_scratch) writable.push_back(policy_->host_scratch->real);
    for (AbsolutePath& region : own_writable(*policy_)) writable.push_back(std::move(region));
    sort_unique(writable);
    std::vector<AbsolutePath>& readable = layers_.readable_roots;
    readable = writable;  // a right to write is none to read
    for (const Place& place : policy_->readable) readable.push_back(place.real);
    for (AbsolutePath& path : stage2_spellings(*policy_)) readable.push_back(std::move(path));
    sort_unique(readable);
  }

  // The later of two at one region holds.
  void fill_grants() {
    for (std::size_t i = 0; i < kSystemView.size(); ++i) {
      Grant grant = grant_of(policy_->system_view[i], false);
      grant.constant = i;
      if (policy_->system_view[i].real.str() != kSystemView[i]) {
        grant.identity = grant.parent_identity = FileIdentity{};
      }
      grants_.insert_or_assign(kSystemView[i], std::move(grant));
    }
    for (const AbsolutePath& path : stage2_spellings(*policy_)) put(path, own_grant(path, false));
    for (const Place& place : policy_->readable) put(place.real, grant_of(place, false));
    for (const AbsolutePath& region : own_writable(*policy_)) put(region, own_grant(region, true));
    if (policy_->host_scratch) {
      put(policy_->host_scratch->real, grant_of(*policy_->host_scratch, true));
    }
    for (const Place& place : policy_->writable) put(place.real, grant_of(place, true));
  }

  // Of two spellings of one region the first in byte order is printed, whatever the policy's order.
  void put(const AbsolutePath& region, Grant grant) {
    const std::vector<AbsolutePath>& list = layers_.readable_roots;
    const std::string_view key = list[index_of(list, region.str())].str();
    const auto [at, inserted] = grants_.try_emplace(key, grant);
    if (inserted) return;
    const bool same = at->second.writable == grant.writable && !at->second.ours && !grant.ours &&
                      !at->second.constant;
    if (!same || grant.written < at->second.written) at->second = std::move(grant);
  }

  void order_grants() {
    for (const auto& [region, grant] : grants_) {
      laid_.push_back({.place = folded(known_path(region)), .region = region, .grant = &grant});
    }
    std::sort(laid_.begin(), laid_.end(), comes_before);
    for (const Laid& laid : laid_) {
      if (laid.grant->writable) places_[laid.place].writable = true;
      places_.try_emplace(laid.place);
    }
  }

  void hide(std::string_view region) {
    layers_.view.push_back({.mount_class = MountClass::kRootTmpfs,
                            .form = MountForm::kNone,
                            .region = known_path(region),
                            .written = known_path(region)});
  }

  // What no region of the policy shows.
  void lay_ground() {
    const auto system = grants_.find(kSystem);
    if (!grants_.contains("/")) {
      hide("/");
      hides_volumes_ = system->second.constant && !grants_.contains(kVolumes);
    }
    if (hides_volumes_) {
      layers_.view.push_back(view_of(system->first, system->second));
      hide(kVolumes);
    }
    layers_.ground = layers_.view.size();
  }

  // The nearest place above of which a root says something.
  [[nodiscard]] State around(std::string_view place) const {
    for (std::string_view at = above(place); !at.empty(); at = above(at)) {
      if (const auto found = places_.find(at); found != places_.end()) return found->second;
    }
    return {};
  }

  [[nodiscard]] WriteRule rule_for(std::string_view region, const Grant& grant, bool allow) const {
    WriteRule rule{.allow = allow, .region = known_path(region)};
    if (grant.constant) {
      rule.name = WriteRule::Name::kConstant;
      rule.index = *grant.constant;
    } else if (grant.writable) {
      rule.index = index_of(layers_.writable_roots, region);
    } else {
      rule.name = WriteRule::Name::kReadableRoot;
      rule.index = index_of(layers_.readable_roots, region);
    }
    return rule;
  }

  void add_grant(const Laid& laid) {
    const auto& [place, region, grant] = laid;
    const State outer = around(place);
    // Inside what is denied already there is nothing to say.
    if (!grant->writable && outer.writable) {
      layers_.corrections.push_back(rule_for(region, *grant, false));
      layers_.denied.push_back(known_path(region));
    }
    if (!grant->writable && (outer.writable || outer.denied)) places_[place].denied = true;
    if (grant->writable && outer.denied) {
      layers_.corrections.push_back(rule_for(region, *grant, true));
    }
    const bool is_ground = hides_volumes_ && region == kSystem;
    if (!is_ground) layers_.view.push_back(view_of(region, *grant));
  }

  [[nodiscard]] static MountOperation view_of(std::string_view region, const Grant& grant) {
    return {.mount_class = grant.writable ? MountClass::kWritable : MountClass::kReadable,
            .form = MountForm::kRule,
            .region = known_path(region),
            .written = grant.written,
            .identity = grant.identity,
            .parent_identity = grant.parent_identity};
  }

  // An optional mount of nothing is none. Of two at one place the read-only one comes last.
  void order_mounts() {
    for (const MountPlace& mount : policy_->mounts) {
      if (!mount.at.is_missing()) layers_.mounts.push_back(mount);
    }
    std::sort(layers_.mounts.begin(), layers_.mounts.end(),
              [](const MountPlace& a, const MountPlace& b) {
                const std::string at = folded(a.at.real);
                const std::string other = folded(b.at.real);
                if (at != other) return at < other;
                if (a.writable != b.writable) return a.writable;
                if (a.at.real != b.at.real) return a.at.real < b.at.real;
                return a.at.written < b.at.written;
              });
    for (const MountPlace& mount : layers_.mounts) {
      mount_places_.push_back(folded(mount.at.real));
      mounted_.insert(mount_places_.back());
      if (mount.writable) mounted_writable_.insert(mount_places_.back());
    }
  }

  // Whether the command could write at the mount, or in a part of it, were it not for the mount.
  [[nodiscard]] bool meets_writable(std::string_view place) const {
    for (std::string_view at = place; !at.empty(); at = above(at)) {
      const auto found = places_.find(at);
      if (found != places_.end() && found->second.writable) return true;
      if (mounted_writable_.contains(at)) return true;
    }
    const std::string inside = place == "/" ? "/" : std::string(place) + '/';
    const auto first =
        std::lower_bound(laid_.begin(), laid_.end(), inside,
                         [](const Laid& laid, const std::string& at) { return laid.place < at; });
    for (auto at = first; at != laid_.end() && at->place.starts_with(inside); ++at) {
      if (at->grant->writable && !at->grant->ours) return true;
    }
    return false;
  }

  using Places = std::set<std::string, std::less<>>;

  [[nodiscard]] static bool lies_beneath(const Places& places, std::string_view place) {
    for (std::string_view at = above(place); !at.empty(); at = above(at)) {
      if (places.contains(at)) return true;
    }
    return false;
  }

  void lay_mount(std::size_t index) {
    const MountPlace& mount = layers_.mounts[index];
    MountRules rules{.is_mount = true, .index = index};
    const bool denies = !mount.writable && meets_writable(mount_places_[index]);
    if (mount.writable || denies) {
      rules.write.push_back({.allow = mount.writable,
                             .name = WriteRule::Name::kMount,
                             .index = index,
                             .region = mount.at.real});
    }
    if (denies) {
      layers_.denied.push_back(mount.at.real);
      denied_mounts_.insert(mount_places_[index]);
    }
    layers_.mount_rules.push_back(std::move(rules));
    layers_.view.push_back(
        {.mount_class = mount.writable ? MountClass::kMountReadWrite : MountClass::kMountReadOnly,
         .form = MountForm::kRule,
         .region = mount.at.real,
         .written = mount.at.written,
         .identity = mount.at.identity,
         .parent_identity = mount.at.parent_identity});
  }

  // Stage 2 starts every run of this helper, so a mount that it lies beneath does not open it.
  void deny_stage2(std::string_view region, const Grant& grant) {
    layers_.mount_rules.push_back(
        {.is_mount = false, .index = 0, .write = {rule_for(region, grant, false)}});
    layers_.denied.push_back(known_path(region));
  }

  void lay_own(const Laid& own) {
    if (!own.grant->writable) {
      deny_stage2(own.region, *own.grant);
    } else if (lies_beneath(denied_mounts_, own.place)) {
      layers_.mount_rules.push_back(
          {.is_mount = false, .index = 0, .write = {rule_for(own.region, *own.grant, true)}});
    }
    layers_.view.push_back(view_of(own.region, *own.grant));
  }

  // So that what lies further in comes later.
  void lay_mounts() {
    std::vector<Laid> own;
    for (const Laid& laid : laid_) {
      const bool ours = laid.grant->writable && laid.grant->ours;
      // What is mounted at the very place was named by the policy, and decides.
      if (!ours || mounted_.contains(laid.place)) continue;
      if (lies_beneath(mounted_, laid.place)) own.push_back(laid);
    }
    std::map<std::string, Grant> stage2;
    for (const AbsolutePath& path : stage2_spellings(*policy_)) {
      std::string place = folded(path);
      if (!lies_beneath(mounted_writable_, place)) continue;
      const auto at = stage2.try_emplace(path.str(), own_grant(path, false)).first;
      own.push_back({.place = std::move(place), .region = at->first, .grant = &at->second});
    }
    std::sort(own.begin(), own.end(), comes_before);
    auto next = own.begin();
    for (std::size_t i = 0; i < layers_.mounts.size(); ++i) {
      for (; next != own.end() && next->place < mount_places_[i]; ++next) lay_own(*next);
      lay_mount(i);
    }
    for (; next != own.end(); ++next) lay_own(*next);
  }

  void list_written() {
    layers_.written = layers_.writable_roots;
    for (const MountPlace& mount : layers_.mounts) {
      if (mount.writable) layers_.written.push_back(mount.at.real);
    }
    sort_unique(layers_.written);
  }

  const ResolvedPolicy* policy_;
  Layers layers_;
  Grants grants_;
  std::vector<Laid> laid_;
  std::map<std::string, State, std::less<>> places_;  // of the grants, by what rules take them for
  bool hides_volumes_ = false;
  std::vector<std::string> mount_places_;  // of the layers' mounts, folded
  Places mounted_;
  Places mounted_writable_;
  Places denied_mounts_;
};

}  // namespace

Layers lay(const ResolvedPolicy& policy) { return Laying(policy).run(); }

}  // namespace loom::seatbelt
