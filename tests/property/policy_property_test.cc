#include <gtest/gtest.h>

#include "policy/decode_policy.h"
#include "tests/property/property_seed.h"

namespace loom {
namespace {

using test::Dice;
using test::kPropertyRounds;
using test::property_seed;
using test::replay_hint;

// A clean path of a few components from a small alphabet, so that paths meet and cover each other.
AbsolutePath random_path(Dice& dice) {
  static constexpr std::string_view kNames[] = {"a", "b", "a-", "a!", "\xff", "b0", ".x"};
  std::string text = "/";
  for (std::size_t depth = dice.below(4); depth > 0; --depth) {
    if (text.size() > 1) text += '/';
    text += kNames[dice.below(std::size(kNames))];
  }
  return *AbsolutePath::parse(text);
}

std::vector<AbsolutePath> random_paths(Dice& dice) {
  std::vector<AbsolutePath> paths;
  for (std::size_t count = dice.below(4); count > 0; --count) paths.push_back(random_path(dice));
  return paths;
}

std::vector<std::string> random_strings(Dice& dice) {
  std::vector<std::string> strings;
  for (std::size_t count = dice.below(4); count > 0; --count) {
    std::string text;
    for (std::size_t size = dice.below(40); size > 0; --size)
      text += static_cast<char>(dice.byte());
    strings.push_back(text);
  }
  return strings;
}

std::optional<std::uint64_t> random_limit(Dice& dice) {
  const std::uint64_t number = dice.number();
  if (number == 0 || dice.chance(3)) return std::nullopt;
  return number;
}

ExecEntry random_entry(Dice& dice) {
  static constexpr std::string_view kPrograms[] = {"a", "b", "a-", "\xff", "sh"};
  const auto kind = static_cast<ExecEntryKind>(dice.below(3));
  const AbsolutePath path = random_path(dice);
  if (kind == ExecEntryKind::kName || path.is_root()) {
    return {.kind = ExecEntryKind::kName,
            .value = std::string(kPrograms[dice.below(std::size(kPrograms))])};
  }
  return {.kind = kind, .value = path.str()};
}

std::vector<ExecEntry> random_entries(Dice& dice) {
  std::vector<ExecEntry> entries;
  for (std::size_t count = dice.below(3); count > 0; --count) entries.push_back(random_entry(dice));
  return entries;
}

ExecPolicy random_exec(Dice& dice) {
  return {.allow_by_default = dice.chance(2),
          .allow = random_entries(dice),
          .deny = random_entries(dice),
          .system_support = dice.chance(2),
          .memfd_noexec = dice.chance(2),
          .required = dice.chance(2)};
}

// Any policy of either version, clashes between its lists included.
Policy random_policy(Dice& dice) {
  Policy policy{.version = dice.chance(2) ? 3U : 2U};
  if (policy.version == 3 && !dice.chance(4)) policy.exec = random_exec(dice);
  policy.writable_roots = random_paths(dice);
  policy.readable_roots = random_paths(dice);
  policy.protected_paths = random_paths(dice);
  policy.network.mode = static_cast<NetworkMode>(dice.below(3));
  if (policy.network.mode == NetworkMode::kProxy) {
    policy.network.allow = random_strings(dice);
    policy.network.proxy = "127.0.0.1:1";
  }
  policy.limits = Limits{.cpu_s = random_limit(dice),
                         .wall_s = random_limit(dice),
                         .mem_bytes = random_limit(dice),
                         .pids = random_limit(dice),
                         .fsize_bytes = random_limit(dice),
                         .output_bytes = random_limit(dice)};
  policy.env_allow = random_strings(dice);
  if (const AbsolutePath scratch = random_path(dice); !scratch.is_root()) {
    policy.scratch = Scratch{.host_path = scratch, .written = scratch.str()};
  }
  for (const AbsolutePath& path : random_paths(dice)) {
    policy.mounts.push_back({.path = path, .writable = dice.chance(2), .required = dice.chance(2)});
  }
  return policy;
}

bool holds_twice(const std::vector<ExecEntry>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (entries[i] == entries[j]) return true;
    }
  }
  return false;
}

// Rows 48 to 50 of docs/policy.md 3 in the plainest words.
bool entries_clash(const Policy& policy) {
  if (!policy.exec) return false;
  std::vector<ExecEntry> both = policy.exec->allow;
  both.insert(both.end(), policy.exec->deny.begin(), policy.exec->deny.end());
  if (holds_twice(both)) return true;
  for (const ExecEntry& entry : policy.exec->allow) {
    if (entry.kind == ExecEntryKind::kName) continue;
    for (const AbsolutePath& hidden : policy.protected_paths) {
      if (AbsolutePath::parse(entry.value)->is_within(hidden)) return true;
    }
  }
  return false;
}

// Rows 31 to 33 likewise, or one of those.
bool lists_clash(const Policy& policy) {
  if (entries_clash(policy)) return true;
  for (std::size_t i = 0; i < policy.mounts.size(); ++i) {
    const ExplicitMount& mount = policy.mounts[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (policy.mounts[j].path == mount.path) return true;
    }
    for (const AbsolutePath& entry : policy.protected_paths) {
      if (mount.path.is_within(entry) || entry.is_within(mount.path)) return true;
    }
    for (const AbsolutePath& root : policy.writable_roots) {
      if (!mount.writable && root.is_within(mount.path)) return true;
    }
  }
  return false;
}

TEST(PolicyPropertyTest, ExactlyThePoliciesWithoutAClashDecodeToThemselves) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  int clashes = 0;
  for (int round = 0; round < kPropertyRounds; ++round) {
    SCOPED_TRACE(replay_hint(seed, round));
    const Policy policy = random_policy(dice);

    const auto decoded = decode_policy(encode_policy(policy));

    clashes += lists_clash(policy) ? 1 : 0;
    ASSERT_EQ(decoded.has_value(), !lists_clash(policy))
        << (decoded ? "" : decoded.error().message);
    if (decoded) {
      ASSERT_EQ(*decoded, policy);
    }
  }
  // Otherwise the generator tests one side only.
  EXPECT_GT(clashes, kPropertyRounds / 10);
  EXPECT_LT(clashes, kPropertyRounds * 9 / 10);
}

TEST(PolicyPropertyTest, EncodingIsCanonical) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  for (int round = 0; round < kPropertyRounds; ++round) {
    SCOPED_TRACE(replay_hint(seed, round));
    Policy policy = random_policy(dice);
    policy.mounts.clear();
    if (entries_clash(policy)) policy.exec.reset();
    const Bytes once = encode_policy(policy);
    const auto decoded = decode_policy(once);
    ASSERT_TRUE(decoded) << decoded.error().message;

    ASSERT_EQ(encode_policy(*decoded), once);
  }
}

}  // namespace
}  // namespace loom
