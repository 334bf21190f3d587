#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/report.h>
#include <loom/value.h>

namespace loom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bytes with_keys(std::initializer_list<const char*> keys) {
  ValueWriter out;
  out.map(keys.size());
  for (const char* key : keys) {
    out.text(key);
    out.nil();
  }
  return out.take();
}

TEST(InnerReportTest, WhatIsWrittenIsReadAgain) {
  const InnerReport report{.applied = {"rlimit-cpu", "landlock:abi=7"},
                           .skipped = {"seccomp: not in this kernel"}};

  const auto decoded = decode_inner_report(encode(report));

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, report);
}

TEST(InnerReportTest, AMissingKeyOrNilIsAnEmptyList) {
  for (const Bytes& input : {with_keys({}), with_keys({"applied"}), with_keys({"skipped"}),
                             with_keys({"skipped", "applied"})}) {
    const auto decoded = decode_inner_report(input);

    ASSERT_TRUE(decoded);
    EXPECT_THAT(decoded->applied, IsEmpty());
    EXPECT_THAT(decoded->skipped, IsEmpty());
  }
}

TEST(InnerReportTest, AnUnknownKeyIsRefusedByName) {
  const auto decoded = decode_inner_report(with_keys({"applied", "granted"}));

  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("granted"));
}

TEST(InnerReportTest, WhatIsNotAReportIsRefused) {
  ValueWriter list;
  list.array(2);
  list.array(0);
  list.array(0);
  ValueWriter numbers;
  numbers.map(1);
  numbers.text("applied");
  numbers.array(1);
  numbers.number(1);
  Bytes trailing = encode(InnerReport{});
  trailing.push_back(std::byte{0xC0});

  EXPECT_FALSE(decode_inner_report({}));
  EXPECT_FALSE(decode_inner_report(list.bytes()));
  EXPECT_FALSE(decode_inner_report(numbers.bytes()));
  EXPECT_FALSE(decode_inner_report(trailing));
}

TEST(InnerReportTest, LengthEndsAtItsCeiling) {
  const auto report_of = [](std::size_t size) {
    InnerReport report{.applied = {std::string(40'000, 'x'), std::string(20'000, 'x')}};
    report.applied[1].resize(20'000 + size - encode(report).size(), 'x');
    return encode(report);
  };

  ASSERT_EQ(report_of(kMaxInnerReportBytes).size(), kMaxInnerReportBytes);
  EXPECT_TRUE(decode_inner_report(report_of(kMaxInnerReportBytes)));
  EXPECT_FALSE(decode_inner_report(report_of(kMaxInnerReportBytes + 1)));
}

TEST(InnerReportTest, EntriesAreAlwaysUtf8) {
  const auto decoded = decode_inner_report(encode(InnerReport{.skipped = {"mounts: /\xFF"}}));

  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->skipped, ElementsAre("mounts: /\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace loom
