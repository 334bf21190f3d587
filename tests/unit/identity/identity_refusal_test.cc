#include "identity/identity_refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/support/read_file.h"

namespace loom {
namespace {

constexpr auto kLast = IdentityRefusal::kReplace;

// The client keeps printable ASCII and cuts at 160 characters.
TEST(IdentityRefusalTest, EveryReasonIsOneShortLineOfPrintableAsciiAndNoTwoAreEqual) {
  std::set<std::string_view> texts;
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const std::string_view text = refusal_text(static_cast<IdentityRefusal>(i));
    EXPECT_TRUE(texts.insert(text).second) << text;
    EXPECT_FALSE(text.empty());
    EXPECT_LT(std::string("loom-exec: ").size() + text.size(), 160u) << text;
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
        << text;
  }
  // A reason beyond the last one has the text of none of them, so the loop above saw them all.
  EXPECT_FALSE(
      texts.contains(refusal_text(static_cast<IdentityRefusal>(static_cast<int>(kLast) + 1))));
}

TEST(IdentityRefusalTest, NoReasonNamesAPathOrAKey) {
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const std::string text(refusal_text(static_cast<IdentityRefusal>(i)));
    EXPECT_THAT(text, ::testing::Not(::testing::AnyOf(::testing::HasSubstr("/"),
                                                      ::testing::HasSubstr("user."))));
  }
}

TEST(IdentityRefusalTest, EveryReasonStandsInTheDocumentation) {
  const std::string text = test::read_file(LOOM_SOURCE_DIR "/docs/git-identity.md");
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const std::string reason(refusal_text(static_cast<IdentityRefusal>(i)));
    EXPECT_THAT(text, ::testing::HasSubstr("| `" + reason + "` |"));
  }
}

}  // namespace
}  // namespace loom
