#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace loom::test {

inline constexpr int kPropertyRounds = 2'000;

// The seed of this run: LOOM_SEED where it is set, else a fixed number, so that a failure repeats.
inline std::uint32_t property_seed() {
  const char* const given = std::getenv("LOOM_SEED");
  return given == nullptr ? 20'260'101U
                          : static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
}

// For the message of a failure: what to set to see it again.
inline std::string replay_hint(std::uint32_t seed, int round) {
  return "LOOM_SEED=" + std::to_string(seed) + ", round " + std::to_string(round);
}

// Random choices from one seeded source.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}

  // 0 to `bound` - 1.
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  // Small numbers, numbers at the edges of the encodings, and any.
  std::uint64_t number() {
    const std::uint64_t any = std::uniform_int_distribution<std::uint64_t>()(random_);
    return any >> below(64);
  }
  std::byte byte() { return static_cast<std::byte>(below(256)); }

 private:
  std::mt19937 random_;
};

}  // namespace loom::test
