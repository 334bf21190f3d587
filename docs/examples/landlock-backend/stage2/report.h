#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace landlock::stage2 {

// What was put in force, in the order of docs/enforcement-tags.md 4.
class Report {
 public:
  // An entry of two parts at most, and a number if there is one.
  void add(std::string_view text, std::string_view more = {}) noexcept;
  void add_number(std::string_view text, std::uint32_t number) noexcept;

  // Writes the inner report (<loom/report.h>) and closes the pipe. Gives up where it cannot.
  void send(int pipe) const noexcept;

 private:
  static constexpr std::size_t kMaxEntries = 24;
  struct Entry {
    std::array<char, 160> text{};
    std::size_t size = 0;
  };
  Entry* next() noexcept;

  std::array<Entry, kMaxEntries> entries_{};
  std::size_t count_ = 0;
};

}  // namespace landlock::stage2
