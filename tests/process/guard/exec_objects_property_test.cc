#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "guard/reached.h"
#include "guard_support.h"
#include "lowering_support.h"
#include "tests/property/property_seed.h"

namespace loom::guard {
namespace {

constexpr int kTrees = 400;
constexpr std::size_t kObjects = 18;
constexpr std::array<const char*, 9> kNames = {"a",        "A",  "b",   "e\xCC\x81", "\xC3\xA9",
                                               "\xC3\x9F", "ss", "bin", "sh"};

// What the rules let run: files by their object, and what lies in a directory that is whole.
class RulesReach {
 public:
  explicit RulesReach(const Lowered& lowered) {
    for (std::size_t i = 0; i < lowered.objects.size(); ++i) {
      (lowered.whole[i] ? whole_ : files_).push_back(lowered.objects[i]);
    }
  }
  [[nodiscard]] bool hold(const Reached& object) const {
    const FileIdentity identity{.device = object.about.st_dev, .inode = object.about.st_ino};
    if (contains(files_, identity)) return true;
    const std::vector<FileIdentity>& passed = object.subject.passage().passed;
    return std::any_of(passed.begin(), passed.end(),
                       [this](const FileIdentity& above) { return contains(whole_, above); });
  }

 private:
  static bool contains(const std::vector<FileIdentity>& all, const FileIdentity& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  std::vector<FileIdentity> files_;
  std::vector<FileIdentity> whole_;
};

// Bare names are the guard's alone where they are not looked for.
bool only_a_name_excludes(const law::KernelTable& table, const law::Subject& file) {
  const auto& all = table.table().exclusions();
  return table.table().allows(file) &&
         std::all_of(all.begin(), all.end(), [&](const law::Exclusion& rule) {
           return rule.scope() == law::Scope::kName || !rule.holds(file);
         });
}

class ExecObjectsPropertyTest : public LoweringTest {
 protected:
  struct World {
    std::vector<std::string> directories = {"/w", "/o"};
    std::vector<std::string> all = {"/w", "/o"};
    std::vector<std::string> entries;  // of the table
    law::Default otherwise = law::Default::kDeny;
    std::vector<Shown> shown;
    std::vector<law::Subject> support;
  };

  World make_world(test::Dice& dice) const {
    for (const char* top : {"/w", "/o"}) {
      std::filesystem::remove_all(tree_.at(top));
      tree_.directory(top);
    }
    World world;
    for (std::size_t i = 0; i < kObjects; ++i) add_object(dice, world);
    if (dice.chance(3)) world.otherwise = law::Default::kAllow;
    const std::size_t count = dice.below(7);
    for (std::size_t i = 0; i < count; ++i) world.entries.push_back(random_entry(dice, world));
    for (std::size_t i = dice.below(4); i > 0; --i)
      world.shown.push_back(random_region(dice, world));
    if (dice.chance(2)) world.shown.push_back(readable("/w"));
    world.support.push_back(law::Subject::file(path(tree_.at(some(dice, world.all)))));
    return world;
  }

  static std::string text_of(const World& world) {
    std::string text = world.otherwise == law::Default::kAllow ? "default allow" : "default deny";
    for (const std::string& entry : world.entries) text += ", " + entry;
    for (const Shown& each : world.shown) {
      text += ", " + std::string(mount_class_name(each.mount_class)) + ' ' + each.region;
    }
    return text;
  }

  // Every file of the tree, links not followed.
  void compare(const law::KernelTable& kernel, const std::vector<MountOperation>& shown,
               const Lowered& got, std::map<std::string, int>& seen) const {
    const ViewReplay replay(shown);
    const RulesReach rules(got);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree_.at("/"))) {
      auto object = reach(path(entry.path()), LinksOnTheWay::kRefused);
      if (!object || !*object || !S_ISREG((*object)->about.st_mode)) continue;
      const law::Subject& file = (*object)->subject;
      SCOPED_TRACE(file.real().str() + " with the rules " + got.text());
      const MountOperation* const where = replay.effective(file.real());
      const law::Evidence evidence = kernel.evidence(file);
      if (evidence.admits() && where != nullptr && is_host_backed(where->mount_class)) {
        EXPECT_TRUE(rules.hold(**object));
        ++seen["admitted"];
      } else if (!evidence.admits() && rules.hold(**object) && only_a_name_excludes(kernel, file)) {
        ++seen["a name's exclusion that is the guard's alone"];
      } else if (!evidence.admits()) {
        EXPECT_FALSE(rules.hold(**object));
        ++seen[evidence.excluded ? "excluded" : "not allowed"];
      }
    }
  }

  static std::string some(test::Dice& dice, const std::vector<std::string>& names) {
    return names[dice.below(names.size())];
  }

 private:
  void add_object(test::Dice& dice, World& world) const {
    const std::string name =
        some(dice, world.directories) + '/' + kNames[dice.below(kNames.size())];
    if (tree_.has(name)) return;
    world.all.push_back(name);
    switch (dice.below(6)) {
      case 0:
        tree_.link("../" + some(dice, world.all).substr(1), name);
        return;
      case 1:
      case 2:
        tree_.directory(name);
        world.directories.push_back(name);
        return;
      default:
        tree_.file(name, name, 0755);
    }
  }
  // Often of the other kind than the object, often absent.
  std::string random_entry(test::Dice& dice, const World& world) const {
    if (dice.chance(8)) return std::string("-name ") + kNames[dice.below(kNames.size())];
    std::string value = some(dice, world.all);
    if (dice.chance(3)) value += std::string("/") + kNames[dice.below(kNames.size())];
    return std::string(dice.chance(2) ? "+" : "-") + (dice.chance(2) ? "dir " : "file ") +
           frozen_name(value);
  }
  // Rules are of real paths: that is what freezing makes of them.
  std::string frozen_name(const std::string& value) const {
    const std::string real = freeze(path(tree_.at(value))).fact.real.str();
    return real.starts_with(tree_.at("/")) ? real.substr(tree_.at("").size()) : value;
  }
  Shown random_region(test::Dice& dice, const World& world) const {
    const std::string region = frozen_name(some(dice, world.all));
    switch (dice.below(4)) {
      case 0:
        return masked(region);
      case 1:
        return scratch(region);
      case 2:
        return tree_.has(region) ? writable(region) : readable(region);
      default:
        return readable(region);
    }
  }
};

// guard 7.2: what the kernel is told is what the table says, on every file of every root.
TEST_F(ExecObjectsPropertyTest, AFileIsReachedByARuleExactlyWhenTheTableAdmitsIt) {
  const std::uint32_t seed = test::property_seed();
  test::Dice dice(seed);
  std::map<std::string, int> seen;
  for (int round = 0; round < kTrees && !HasFailure(); ++round) {
    SCOPED_TRACE(test::replay_hint(seed, round));
    const World world = make_world(dice);
    SCOPED_TRACE(text_of(world));
    const law::KernelTable kernel(table(world.entries, world.otherwise), world.support, {});
    const std::vector<MountOperation> shown = view(world.shown);

    const Lowered got = lower_in(kernel, shown);

    if (got.refusal.empty()) {
      compare(kernel, shown, got, seen);
    } else {
      EXPECT_EQ(got.refusal, "redirected") << "an allowed file or a bind is a link";
      ++seen["refused"];
    }
  }
  for (const auto& [what, count] : seen) RecordProperty(what, count);
  for (const char* what : {"admitted", "excluded", "not allowed"}) {
    EXPECT_GT(seen[what], kTrees / 4) << what;
  }
  EXPECT_LT(seen["refused"], kTrees / 4);
}

TEST_F(ExecObjectsPropertyTest, TheOrderOfRulesAndOfTheViewMeansNothing) {
  const std::uint32_t seed = test::property_seed();
  test::Dice dice(seed);
  for (int round = 0; round < kTrees / 4 && !HasFailure(); ++round) {
    SCOPED_TRACE(test::replay_hint(seed, round));
    World world = make_world(dice);
    // The order of a view has a meaning where regions lie in each other.
    world.shown = {readable("/o"), readable("/w")};

    const Lowered one = lower(table(world.entries, world.otherwise), world.shown);
    std::reverse(world.entries.begin(), world.entries.end());
    std::reverse(world.shown.begin(), world.shown.end());
    const Lowered other = lower(table(world.entries, world.otherwise), world.shown);

    EXPECT_EQ(one.refusal, other.refusal);
    if (!one.refusal.empty()) continue;  // what was given before that has no meaning
    EXPECT_EQ(std::multiset(one.rules.begin(), one.rules.end()),
              std::multiset(other.rules.begin(), other.rules.end()));
    EXPECT_EQ(one.listed, other.listed);
  }
}

}  // namespace
}  // namespace loom::guard
