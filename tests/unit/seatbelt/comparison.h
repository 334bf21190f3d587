#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "linux_launch.h"
#include "mac_launch.h"
#include "policy_case.h"

namespace loom::seatbelt::test {

// What was seen over many cases. The names in the maps are those of declared_differences.h.
struct Tally {
  std::size_t planned = 0;        // by both
  std::size_t refused = 0;        // by both
  std::size_t both_may = 0;       // questions
  std::size_t neither_may = 0;    // questions
  std::size_t widened = 0;        // roots that a mount undoes, named by both
  std::size_t detail_checks = 0;  // of a profile against its plan's view
  std::map<std::string, std::size_t> differences{};
  std::map<std::string, std::size_t> refusals{};
  std::map<std::string, std::size_t> details{};
};

// Plans a case for both platforms and compares whatever can be asked: what each jail admits, and
// what each profile says with what its plan's view says. The first thing that nothing declared
// explains, in words; nothing: all is explained.
//
// A mutation that had nothing to change makes the case uninteresting: nothing.
[[nodiscard]] std::optional<std::string> compare(const PolicyCase& one, Tally& tally,
                                                 const Mutation& mutation = {});

// Takes away whatever is not needed for an unexplained difference.
[[nodiscard]] PolicyCase shrunk(PolicyCase one, const Mutation& mutation = {});

}  // namespace loom::seatbelt::test
