#include "law/kernel_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "law_support.h"

namespace loom::law {
namespace {

constexpr FileIdentity kHidden{.device = 1, .inode = 7};

std::string says(const KernelTable& asked, const Subject& about) {
  return std::string(evidence_name(asked.evidence(about)));
}

TEST(KernelTableTest, SupportJoinsWhereTheAuthorWasSilentAndTheTableItselfStaysAsItWas) {
  const std::vector<Subject> support = {file("/lib/ld.so"), file("/x/sh")};
  const KernelTable kernel(deny({{"+dir /x"}}), support, {});

  EXPECT_EQ(says(kernel, file("/lib/ld.so")), "for");
  EXPECT_EQ(says(kernel, file("/lib/ld2.so")), "none");
  EXPECT_EQ(says(kernel, file("/lib/LD.so")), "none");
  EXPECT_EQ(says(kernel, inside("/lib/ld.so")), "none");
  EXPECT_EQ(says(kernel, inside("/lib")), "none");
  EXPECT_EQ(judge(kernel.table(), file("/lib/ld.so")).refusal, Reason::kNotAllowed);
  EXPECT_EQ(kernel.support(), std::vector{path("/lib/ld.so")});
  EXPECT_TRUE(kernel.dropped().empty());
}

TEST(KernelTableTest, AnExclusionOfTheTableDropsSupportByNameAndByIdentity) {
  const std::vector<Subject> support = {file("/lib/ld.so"),
                                        file("/alias/i", {.passed = {kHidden}, .parent = kHidden})};
  const KernelTable kernel(deny({{"-file /lib/LD.so"}, {"-dir /h", {path("/"), kHidden, {}, {}}}}),
                           support, {});

  EXPECT_TRUE(kernel.support().empty());
  ASSERT_EQ(kernel.dropped().size(), 2U);
  EXPECT_EQ(kernel.dropped()[0].file, path("/lib/ld.so"));
  EXPECT_EQ(written(kernel.dropped()[0].rule), "file /lib/LD.so");
  EXPECT_FALSE(kernel.dropped()[0].by_protection);
  EXPECT_EQ(kernel.dropped()[1].rule.match, Match::kObject);
  EXPECT_EQ(says(kernel, file("/lib/ld.so")), "against");
}

TEST(KernelTableTest, AProtectedPathDropsSupportToo) {
  const std::vector<Subject> support = {file("/x/i"), file("/y/i"), file("/z/i")};
  std::vector<Exclusion> hidden =
      exclude_both_kinds({.real = path("/x/i")}, {.kind = Scope::kFile, .written = "/x/i"});
  for (Exclusion& rule : exclude_both_kinds({.real = path("/Y")}, {.index = 1, .written = "/Y"})) {
    hidden.push_back(std::move(rule));
  }
  const KernelTable kernel(deny({}), support, hidden);

  EXPECT_EQ(kernel.support(), std::vector{path("/z/i")});
  ASSERT_EQ(kernel.dropped().size(), 2U);
  EXPECT_TRUE(kernel.dropped()[0].by_protection);
  EXPECT_EQ(kernel.dropped()[1].rule.origin.written, "/Y");
  EXPECT_EQ(says(kernel, file("/x/i")), "none");
}

TEST(KernelTableTest, AProtectedPathDropsAlsoWhatTheTableAllows) {
  const std::vector<Subject> support = {file("/x/i")};
  const KernelTable kernel(deny({{"+dir /x"}}), support,
                           exclude_both_kinds({.real = path("/x/i")}, {}));

  EXPECT_EQ(kernel.dropped().size(), 1U);
}

TEST(KernelTableTest, AFileNamedTwiceJoinsOnce) {
  const std::vector<Subject> support = {file("/lib/ld.so"), file("/lib/ld.so")};

  EXPECT_EQ(KernelTable(deny({}), support, {}).support().size(), 1U);
}

}  // namespace
}  // namespace loom::law
