#include "identity/render_gitconfig.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace loom {
namespace {

constexpr std::string_view kHead = "[user]\n\tuseConfigOnly = true\n";

std::string rendered(const GitIdentity& identity) {
  return render_gitconfig(identity, std::nullopt).value_or("refused");
}

TEST(RenderGitconfigTest, NameComesBeforeEmailInATabbedUserSection) {
  EXPECT_EQ(rendered({.name = "A B", .email = "a@b"}),
            "[user]\n"
            "\tuseConfigOnly = true\n"
            "\tname = \"A B\"\n"
            "\temail = \"a@b\"\n");
}

TEST(RenderGitconfigTest, AnAbsentKeyHasNoLineAndAnEmptyValueHasOne) {
  EXPECT_EQ(rendered({}), kHead);
  EXPECT_EQ(rendered({.name = std::nullopt, .email = "e"}),
            std::string(kHead) + "\temail = \"e\"\n");
  EXPECT_EQ(rendered({.name = "", .email = std::nullopt}), std::string(kHead) + "\tname = \"\"\n");
}

TEST(RenderGitconfigTest, ExactlyFiveBytesAreEscaped) {
  for (int code = 1; code < 256; ++code) {
    const char byte = static_cast<char>(code);
    std::string inside(1, byte);
    if (byte == '\\') inside = "\\\\";
    if (byte == '"') inside = "\\\"";
    if (byte == '\n') inside = "\\n";
    if (byte == '\t') inside = "\\t";
    if (byte == '\b') inside = "\\b";
    EXPECT_EQ(rendered({.name = std::string(1, byte), .email = std::nullopt}),
              std::string(kHead) + "\tname = \"" + inside + "\"\n")
        << code;
  }
}

TEST(RenderGitconfigTest, TheFileMayHave64KiBAndNotOneByteMore) {
  const std::size_t around = rendered({.name = "", .email = std::nullopt}).size();
  std::string name(kMaxGitconfigBytes - around, 'x');
  EXPECT_EQ(rendered({.name = name, .email = std::nullopt}).size(), kMaxGitconfigBytes);

  name += 'x';
  const auto refused = render_gitconfig({.name = name, .email = std::nullopt}, std::nullopt);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), IdentityRefusal::kFileTooLong);
}

// cases.md 225
TEST(RenderGitconfigTest, ThePolicysFileSizeLimitHoldsToTheByte) {
  EXPECT_EQ(render_gitconfig({}, kHead.size()).value_or("refused"), kHead);
  EXPECT_EQ(render_gitconfig({}, std::numeric_limits<std::uint64_t>::max()).value_or("refused"),
            kHead);
  for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{kHead.size() - 1}}) {
    const auto refused = render_gitconfig({}, limit);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), IdentityRefusal::kFileOverPolicyLimit);
  }
}

}  // namespace
}  // namespace loom
