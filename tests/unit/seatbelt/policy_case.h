#pragma once

#include <loom/policy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model_tree.h"
#include "tests/property/property_seed.h"

namespace loom::seatbelt::test {

// What a command may want to do at a path: read a file or list a directory, write a file that is
// there, make one where nothing is, take a name away, run a program.
enum class Deed : std::uint8_t { kRead, kWrite, kCreate, kMove, kRun };
inline constexpr Deed kDeeds[] = {Deed::kRead, Deed::kWrite, Deed::kCreate, Deed::kMove,
                                  Deed::kRun};
[[nodiscard]] const char* deed_name(Deed deed) noexcept;

struct TreeEntry {
  NodeKind kind = NodeKind::kFile;
  std::string path{};
  std::string target{};  // of a link
};

// What a policy is asked about: what the user has on the machine, and the policy. The same on both
// platforms; what the system itself has is not part of it.
struct PolicyCase {
  std::vector<TreeEntry> entries{};
  bool any_case = false;  // the Mac's volume finds every spelling of a name
  Policy policy{};
};

// The policy is one that a decoder lets pass.
[[nodiscard]] PolicyCase random_case(loom::test::Dice& dice);
// Every case with one thing less whose policy a decoder lets pass.
[[nodiscard]] std::vector<PolicyCase> smaller_cases(const PolicyCase& one);
[[nodiscard]] std::string in_words(const PolicyCase& one);

// Puts what the user has where it really is: a link that the tree has already may be on the way.
void place_entries(ModelTree& tree, const PolicyCase& one);

// What is worth asking about: every object, every path of the policy, what lies above, beside and
// below them, and some of the system's own names.
[[nodiscard]] std::vector<std::string> questions_about(const PolicyCase& one);

}  // namespace loom::seatbelt::test
