#include <gtest/gtest.h>
#include <loom/view_replay.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "backends/seatbelt/plan.h"
#include "mac_fixture.h"
#include "tests/property/property_seed.h"

namespace loom::seatbelt::test {
namespace {

using loom::test::Dice;

constexpr int kRounds = 400;

// Few, so that paths meet often; none holds a word that a profile has of its own.
const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames = {"/",
                                                  "/qa",
                                                  "/qa-b",
                                                  "/qa/qb",
                                                  "/qa/qb/qc",
                                                  "/qb",
                                                  "/tmp",
                                                  "/tmp/qx",
                                                  "/usr",
                                                  "/usr/qbin",
                                                  "/private/var",
                                                  "/dev",
                                                  "/qlink",
                                                  "/qlink/q",
                                                  "/private",
                                                  "/private/tmp/qx",
                                                  "/qdata/q",
                                                  "/qa/link/q",
                                                  "/System",
                                                  "/System/Volumes",
                                                  "/System/Volumes/Data/qown"};
  return kNames;
}

Mac small_world() {
  Mac mac;
  for (const char* const name : {"/qa", "/qa-b", "/qa/qb", "/qb", "/qdata/q"}) mac.directory(name);
  mac.file("/System/Volumes/Data/qown/f").file("/System/Volumes/Preboot/Cryptexes/OS/cache");
  mac.file("/qa/qb/qc").file("/private/tmp/qx").file("/qa/f").file("/qb/f").file("/qdata/q/f");
  mac.link("/qlink", "qdata").link("/qa/link", "../qdata");
  return mac;
}

std::vector<AbsolutePath> some(Dice& dice, std::size_t most) {
  std::vector<AbsolutePath> chosen;
  for (std::size_t i = dice.below(most + 1); i > 0; --i) {
    chosen.push_back(path(names()[dice.below(names().size())]));
  }
  return chosen;
}

Policy random_policy(Dice& dice) {
  Policy policy;
  policy.readable_roots = some(dice, 3);
  policy.writable_roots = some(dice, 3);
  policy.protected_paths = some(dice, 3);
  if (dice.chance(4)) policy.scratch = {.host_path = path("/qb"), .written = "/qb"};
  if (dice.chance(3)) policy.network.mode = NetworkMode::kFull;
  for (const AbsolutePath& at : some(dice, 2)) {
    policy.mounts.push_back({.path = at, .writable = dice.chance(2), .required = false});
  }
  return policy;
}

template <class T>
void shuffle(std::vector<T>& list, std::mt19937& random) {
  if (!list.empty() && random() % 2 == 0) list.push_back(list[random() % list.size()]);
  std::shuffle(list.begin(), list.end(), random);
}

class SeatbeltPropertyTest : public ::testing::Test {
 protected:
  // Calls `check` with random policies that can be planned.
  template <class Check>
  void for_random_policies(Check check) {
    const std::uint32_t seed = loom::test::property_seed();
    Dice dice(seed);
    int planned = 0;
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
      SCOPED_TRACE(loom::test::replay_hint(seed, round));
      const Policy policy = random_policy(dice);
      if (!plans(policy)) continue;
      ++planned;
      check(policy, Launched(mac_, policy));
    }
    EXPECT_GT(planned, kRounds / 3);
  }

  [[nodiscard]] bool plans(const Policy& policy) const {
    return plan(mac_.request(policy)).has_value();
  }

  Mac mac_ = small_world();
};

// cases.md 207
TEST_F(SeatbeltPropertyTest, OrderAndDuplicationDoNotMatter) {
  std::mt19937 random(loom::test::property_seed());
  for_random_policies([&](const Policy& policy, const Launched& run) {
    Policy other = policy;
    shuffle(other.readable_roots, random);
    shuffle(other.writable_roots, random);
    shuffle(other.protected_paths, random);
    std::shuffle(other.mounts.begin(), other.mounts.end(), random);
    const Launched again(mac_, other);
    EXPECT_EQ(run.plan().canonical_argv, again.plan().canonical_argv);
    EXPECT_EQ(run.plan().view, again.plan().view);
    EXPECT_EQ(run.plan().digest, again.plan().digest);
  });
}

// cases.md 205, 206
TEST_F(SeatbeltPropertyTest, TheTextHoldsNoPathAndNoAllowanceFollowsAProtectedDenial) {
  for_random_policies([&](const Policy&, const Launched& run) {
    const std::string& text = run.profile();
    EXPECT_EQ(text.find("/q"), std::string::npos);
    EXPECT_EQ(text.find("scratch"), std::string::npos);
    const std::size_t first = text.find("(deny file-read* (literal");
    if (first == std::string::npos) return;
    EXPECT_EQ(text.find("(allow", first), std::string::npos);
  });
}

// What a command can do, from the view alone.
bool is_readable(MountClass at) { return is_host_backed(at); }

// The view is what the guard and the report go by.
TEST_F(SeatbeltPropertyTest, TheViewSaysWhatTheProfileDoes) {
  std::vector<std::string> asked;
  for (std::string& real : mac_.tree().all()) {
    if (mac_.tree().at(real) != NodeKind::kLink) asked.push_back(std::move(real));
  }
  for (const std::string& name : names()) {
    asked.push_back(mac_.tree().walk(name).real + (name == "/" ? "new" : "/new"));
  }
  for_random_policies([&](const Policy&, const Launched& run) {
    const ViewReplay replay(run.plan().view);
    for (const std::string& real : asked) {
      const MountClass at = replay.effective(real)->mount_class;
      const bool null = real == "/dev/null";
      if (real != "/") {
        EXPECT_EQ(run.jail().answer(Operation::kReadData, real) == Answer::kAllowed,
                  is_readable(at))
            << real << '\n'
            << run.profile();
      }
      if (null) continue;
      EXPECT_EQ(run.jail().answer(Operation::kWriteData, real) == Answer::kAllowed,
                is_host_writable(at))
          << real << '\n'
          << run.profile();
    }
  });
}

}  // namespace
}  // namespace loom::seatbelt::test
