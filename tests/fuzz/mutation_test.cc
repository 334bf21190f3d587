#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "tests/fuzz/properties.h"
#include "tests/property/property_seed.h"

// The fuzz targets' properties under deterministic mutation of the same corpus: no special compiler
// needed, so every build runs it. A property that breaks aborts the program with the condition.
namespace loom::fuzz {
namespace {

struct Target {
  const char* name;
  void (*check)(ByteView);
  bool (*accepts)(ByteView);
};

// So that a failing row is shown by its name.
std::ostream& operator<<(std::ostream& out, const Target& target) { return out << target.name; }

Bytes load(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

// By file name, in an order that does not depend on the disk.
std::map<std::string, Bytes> corpus_of(const Target& target) {
  std::map<std::string, Bytes> seeds;
  const std::filesystem::path directory =
      std::filesystem::path(LOOM_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / target.name;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    seeds[entry.path().filename().string()] = load(entry.path());
  }
  return seeds;
}

class MutationTest : public testing::TestWithParam<Target> {};

TEST_P(MutationTest, EverySeedIsAcceptedAsItIs) {
  const auto seeds = corpus_of(GetParam());
  ASSERT_FALSE(seeds.empty());
  for (const auto& [name, seed] : seeds) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(GetParam().accepts(seed));
  }
}

TEST_P(MutationTest, EveryTruncationAndEveryFlippedBitKeepsTheProperty) {
  for (const auto& [name, seed] : corpus_of(GetParam())) {
    for (std::size_t length = 0; length < seed.size(); ++length) {
      GetParam().check(ByteView(seed).first(length));
    }
    Bytes flipped = seed;
    for (std::size_t bit = 0; bit < 8 * seed.size(); ++bit) {
      const auto mask = static_cast<std::byte>(1U << (bit % 8));
      flipped[bit / 8] ^= mask;
      GetParam().check(flipped);
      flipped[bit / 8] ^= mask;
    }
  }
}

// One to four edits: a byte set, taken out, put in, or a piece repeated.
Bytes edited(Bytes bytes, test::Dice& dice) {
  for (std::size_t edits = dice.below(4) + 1; edits > 0; --edits) {
    const auto at = static_cast<std::ptrdiff_t>(dice.below(bytes.size() + 1));
    const auto end = static_cast<std::ptrdiff_t>(bytes.size());
    switch (dice.below(4)) {
      case 0:
        if (at < end) bytes[static_cast<std::size_t>(at)] = dice.byte();
        break;
      case 1:
        if (at < end) bytes.erase(bytes.begin() + at);
        break;
      case 2:
        bytes.insert(bytes.begin() + at, dice.byte());
        break;
      default: {
        const Bytes piece(bytes.begin() + at, bytes.begin() + std::min(at + 16, end));
        bytes.insert(bytes.begin() + at, piece.begin(), piece.end());
      }
    }
  }
  return bytes;
}

TEST_P(MutationTest, RandomEditsKeepTheProperty) {
  const std::uint32_t number = test::property_seed();
  RecordProperty("LOOM_SEED", std::to_string(number));
  test::Dice dice(number);
  for (const auto& [name, seed] : corpus_of(GetParam())) {
    for (int round = 0; round < test::kPropertyRounds; ++round)
      GetParam().check(edited(seed, dice));
  }
}

TEST_P(MutationTest, BytesBehindASeedAreNotIgnored) {
  for (auto [name, seed] : corpus_of(GetParam())) {
    SCOPED_TRACE(name);
    seed.push_back(std::byte{0xc0});
    EXPECT_FALSE(GetParam().accepts(seed));
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllTargets, MutationTest,
    testing::Values(Target{"frame_reader", check_frame_reader, frame_reader_accepts},
                    Target{"message", check_message, message_accepts},
                    Target{"policy", check_policy, policy_accepts},
                    Target{"value_codec", check_value_codec, value_codec_accepts},
                    Target{"stage2_report", check_stage2_report, stage2_report_accepts}),
    [](const testing::TestParamInfo<Target>& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace loom::fuzz
