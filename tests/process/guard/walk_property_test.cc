#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "guard/walk.h"
#include "guard_support.h"
#include "tests/property/property_seed.h"

namespace loom::guard {
namespace {

constexpr int kTrees = 120;
constexpr int kQueries = 60;
constexpr std::size_t kObjects = 14;

// Directories, files and links under a few names, the links to anywhere among them.
class RandomTree {
 public:
  RandomTree(test::Dice& dice, const Tree& tree) : dice_(dice), tree_(tree) {
    for (std::size_t i = 0; i < kObjects; ++i) add();
  }

  // A path in the tree, tidy or not.
  [[nodiscard]] std::string query() {
    std::string text = "/w";
    const std::size_t count = 1 + dice_.below(5);
    for (std::size_t i = 0; i < count; ++i) text += slash() + component();
    return text + ending();
  }

 private:
  void add() {
    std::string& in = directories_[dice_.below(directories_.size())];
    const std::string name = in + '/' + std::string(1, "abcd"[dice_.below(4)]);
    if (tree_.has(name)) return;
    switch (dice_.below(4)) {
      case 0:
        tree_.file(name);
        return;
      case 1:
        tree_.directory(name);
        directories_.push_back(name);
        return;
      default:
        tree_.link(target(), name);
        return;
    }
  }
  std::string target() {
    std::string text = dice_.chance(3) ? tree_.at("/w") : component();
    const std::size_t count = dice_.below(4);
    for (std::size_t i = 0; i < count; ++i) text += slash() + component();
    return text + ending();
  }
  std::string component() {
    static constexpr std::array<const char*, 9> kWords = {"a", "b",  "c", "d",   "a",
                                                          "b", "..", ".", "none"};
    return kWords[dice_.below(kWords.size())];
  }
  std::string slash() { return dice_.chance(8) ? "//" : "/"; }
  std::string ending() { return dice_.chance(6) ? (dice_.chance(3) ? "/." : "/") : ""; }

  test::Dice& dice_;
  const Tree& tree_;
  std::vector<std::string> directories_ = {"/w"};
};

// What the kernel says of a path: the object's identity, or errno.
struct KernelAnswer {
  FileIdentity identity{};
  int error = 0;
};

KernelAnswer ask_kernel(const std::string& text, LeafMode leaf) {
  const int nofollow = leaf == LeafMode::kAsNamed ? O_NOFOLLOW : 0;
  const UniqueFd handle(::open(text.c_str(), O_PATH | O_CLOEXEC | nofollow));
  if (!handle) return {.error = errno};
  struct stat about {};
  EXPECT_EQ(::fstat(handle.get(), &about), 0);
  return {.identity = {.device = about.st_dev, .inode = about.st_ino}};
}

// An absent landing is where the kernel would make the file.
void expect_created_in_the_same_place(const std::string& text, Landing& landing) {
  if (landing.must_be_directory()) {
    EXPECT_EQ(reason(landing.create(0644)), "is_a_directory");
    return;
  }
  {
    const UniqueFd made(::open(text.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    ASSERT_TRUE(made) << errno;
  }
  EXPECT_EQ(ask_kernel(text, LeafMode::kResolve).identity,
            ask_kernel(landing.real().str(), LeafMode::kAsNamed).identity);
  EXPECT_EQ(reason(landing.create(0644)), "raced") << "somebody was quicker";
  ASSERT_EQ(::unlink(landing.real().str().c_str()), 0);
  EXPECT_EQ(reason(landing.create(0644)), "landed");
  EXPECT_EQ(ask_kernel(text, LeafMode::kResolve).error, 0);
  ASSERT_EQ(::unlink(landing.real().str().c_str()), 0);
}

std::string compare(const Tree& tree, const std::string& text, LeafMode leaf) {
  auto landing = walk(text, {.leaf = leaf});
  const KernelAnswer kernel = ask_kernel(text, leaf);
  if (kernel.error == 0) {
    EXPECT_EQ(reason(landing), "landed");
    if (!landing) return "wrong";
    EXPECT_EQ(landing->identity(), kernel.identity);
    // The real path names the object, and no link is on the way.
    EXPECT_EQ(ask_kernel(landing->real().str(), LeafMode::kAsNamed).identity, kernel.identity);
    EXPECT_TRUE(walk(landing->real().str(), {.leaf = LeafMode::kAsNamed, .refuse_links = true}));
    return landing->links().empty() ? "landed" : "landed through links";
  }
  if (kernel.error == ENOENT && landing) {
    EXPECT_FALSE(landing->exists());
    // ".." may lead out, where nothing is to be made.
    const bool ours = landing->real().is_within(path(tree.at("/w")));
    if (ours && leaf == LeafMode::kResolve) expect_created_in_the_same_place(text, *landing);
    return "absent";
  }
  EXPECT_EQ(landing ? 0 : landing.error().sys_errno, kernel.error);
  return reason(landing);
}

// guard 2: whenever the kernel finds an object, the walk lands on it; whenever it does not, the
// walk says why in the same words.
TEST(WalkPropertyTest, TheWalkAgreesWithTheKernel) {
  const std::uint32_t seed = test::property_seed();
  test::Dice dice(seed);
  std::map<std::string, int> outcomes;
  for (int round = 0; round < kTrees; ++round) {
    SCOPED_TRACE(test::replay_hint(seed, round));
    const Tree tree(place_in_memory());
    RandomTree random(dice, tree);
    for (int i = 0; i < kQueries; ++i) {
      const std::string text = tree.at(random.query());
      SCOPED_TRACE(text);
      ++outcomes[compare(tree, text, LeafMode::kResolve)];
      ++outcomes[compare(tree, text, LeafMode::kAsNamed)];
      if (::testing::Test::HasFailure()) return;
    }
  }
  for (const auto& [outcome, count] : outcomes) RecordProperty(outcome, count);
  for (const char* seen : {"landed", "landed through links", "absent", "missing", "not_a_directory",
                           "too_many_links"}) {
    EXPECT_GT(outcomes[seen], kTrees * kQueries / 200) << seen;
  }
}

}  // namespace
}  // namespace loom::guard
