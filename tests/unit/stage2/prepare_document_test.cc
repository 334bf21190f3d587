#include "backends/bwrap/stage2/prepare_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace loom::bwrap {
namespace {

using ::testing::HasSubstr;

constexpr int kRounds = 2'000;

unsigned seed() {
  const char* given = std::getenv("LOOM_SEED");
  const unsigned value = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                          : std::random_device{}();
  std::printf("LOOM_SEED=%u\n", value);
  return value;
}

// Draws documents that decode must accept: every field varies, nothing contradicts itself.
class DocumentMaker {
 public:
  explicit DocumentMaker(unsigned seed_value) : random_(seed_value) {}

  PrepareDocument make() {
    PrepareDocument document;
    document.jailed = flip();
    document.root_read_only = flip();
    if (flip()) document.descriptor_limit = number();
    for (int i = 0; flip() && i < 3; ++i) document.own_tmpfs.push_back("/own" + std::to_string(i));
    for (std::size_t n = below(4); n > 0; --n) document.view.push_back(view_check());
    if (flip()) {
      document.cpu_soft = number();
      document.cpu_hard = number();
    }
    if (flip()) document.fsize = number();
    for (std::size_t n = below(4); n > 0; --n) {
      document.keep_caps.push_back(static_cast<std::uint32_t>(below(64)));
    }
    fill_landlock(document);
    fill_filter(document);
    document.shares_pids = document.jailed && document.landlock_abi != 0 && flip();
    return document;
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool flip() { return below(2) == 0; }

 private:
  std::uint64_t number() { return random_() >> below(64); }
  std::string text() {
    std::string out;
    for (std::size_t n = below(40); n > 0; --n) out.push_back(static_cast<char>(1 + below(255)));
    return out;
  }
  ViewCheck view_check() {
    ViewCheck check{.path = "/" + text(),
                    .form = static_cast<ViewCheck::Form>(below(4)),
                    .parent_identity = {.device = number(), .inode = number()},
                    .identity = {}};
    const bool bind =
        check.form == ViewCheck::Form::kPin || check.form == ViewCheck::Form::kReadOnlyBind;
    if (bind) check.identity = {.device = number(), .inode = number() | 1U};
    return check;
  }
  void fill_landlock(PrepareDocument& document) {
    document.landlock_abi = static_cast<std::uint32_t>(below(9));
    document.landlock_reason = document.landlock_abi == 0 ? "reason " + text() : text();
    document.landlock_handled_fs = number();
    document.landlock_scoped = number();
    for (std::size_t n = below(4); n > 0; --n) {
      document.landlock_rules.push_back(
          {.path = "/" + text(), .access = number(), .required = flip()});
    }
  }
  void fill_filter(PrepareDocument& document) {
    document.filter.resize(8 * below(6));
    for (std::byte& byte : document.filter) byte = static_cast<std::byte>(below(256));
    document.filter_wanted = flip();
    if (!document.filter.empty()) document.filter_tag = flip() ? "seccomp-net" : "";
    document.filter_reason = "reason " + text();
    document.proxy_reason = text();
  }

  std::mt19937_64 random_;
};

PrepareDocument complete_document() {
  PrepareDocument document;
  document.jailed = true;
  document.view.push_back({.path = "/ws/.env",
                           .form = ViewCheck::Form::kNullDevice,
                           .parent_identity = {.device = 1, .inode = 2}});
  document.landlock_reason = "kernel without Landlock";
  document.landlock_rules.push_back({.path = "/", .access = 13, .required = true});
  return document;
}

std::string refusal(const PrepareDocument& document) {
  const auto result = decode_prepare_document(encode(document));
  return result ? "accepted" : result.error().message;
}

// The same document with `from` replaced by `to` in its bytes, which must be as long.
std::string refusal_with(std::string_view from, std::string_view to) {
  std::string bytes(as_text(encode(complete_document())));
  const auto at = bytes.find(from);
  EXPECT_NE(at, std::string::npos);
  EXPECT_EQ(from.size(), to.size());
  bytes.replace(at, from.size(), to);
  const auto result = decode_prepare_document(as_bytes(bytes));
  return result ? "accepted" : result.error().message;
}

TEST(PrepareDocument, EveryDocumentSurvivesTheRoundTrip) {
  DocumentMaker maker(seed());
  for (int round = 0; round < kRounds; ++round) {
    const PrepareDocument document = maker.make();
    const auto decoded = decode_prepare_document(encode(document));
    ASSERT_TRUE(decoded) << "round " << round << ": " << decoded.error().message;
    ASSERT_EQ(*decoded, document) << "round " << round;
  }
}

TEST(PrepareDocument, ChangedBytesNeverCrashAndWhatIsAcceptedEncodesAgain) {
  DocumentMaker maker(seed());
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    Bytes bytes = encode(maker.make());
    bytes[maker.below(bytes.size())] = static_cast<std::byte>(maker.below(256));
    const auto decoded = decode_prepare_document(bytes);
    if (!decoded) {
      ++refused;
      continue;
    }
    ASSERT_TRUE(decode_prepare_document(encode(*decoded))) << "round " << round;
  }
  EXPECT_GT(refused, 0);
}

TEST(PrepareDocument, EveryTruncationIsRefused) {
  const Bytes bytes = encode(complete_document());
  ASSERT_TRUE(decode_prepare_document(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_prepare_document(ByteView(bytes).first(size))) << size;
  }
}

TEST(PrepareDocument, AnUnknownVersionIsRefused) {
  EXPECT_EQ(refusal_with("\xa1v\x01", "\xa1v\x02"), "prepare document: not version 1");
}

TEST(PrepareDocument, AnUnknownKeyIsRefusedByName) {
  EXPECT_THAT(refusal_with("proxy_reason", "proxy_season"), HasSubstr("proxy_season"));
  EXPECT_THAT(refusal_with("parent_inode", "parent_onode"), HasSubstr("parent_onode"));
}

TEST(PrepareDocument, AnUnknownFormIsRefused) {
  EXPECT_THAT(refusal_with("null-device", "zero-device"), HasSubstr("form"));
}

TEST(PrepareDocument, AWrongTypeIsRefusedByName) {
  EXPECT_THAT(refusal_with("\xa6jailed\xc3", "\xa6jailed\x01"), HasSubstr("jailed"));
  EXPECT_THAT(refusal_with("\xa4path\xa8/ws/.env", "\xa4path\xa8ws/./env"), HasSubstr("path"));
}

TEST(PrepareDocument, ATextWithANulIsRefused) {
  PrepareDocument document = complete_document();
  document.view.front().path = std::string("/ws/.env\0/etc", 13);
  EXPECT_THAT(refusal(document), HasSubstr("NUL"));
}

TEST(PrepareDocument, AMissingLayerWithoutAReasonIsRefused) {
  PrepareDocument document = complete_document();
  document.filter_wanted = true;
  EXPECT_THAT(refusal(document), HasSubstr("filter_reason"));
  document.filter_reason = "kernel without seccomp filters";
  EXPECT_EQ(refusal(document), "accepted");
  document.landlock_reason.clear();
  EXPECT_THAT(refusal(document), HasSubstr("landlock_reason"));
}

TEST(PrepareDocument, ATagWithoutAFilterIsRefused) {
  PrepareDocument document = complete_document();
  document.filter_tag = "seccomp-net";
  EXPECT_THAT(refusal(document), HasSubstr("filter_tag"));
  document.filter.resize(8);
  EXPECT_EQ(refusal(document), "accepted");
  document.filter.resize(9);
  EXPECT_THAT(refusal(document), HasSubstr("filter"));
}

TEST(PrepareDocument, TheHostsProcessTableIsSharedOnlyByAJailWithLandlock) {
  PrepareDocument document = complete_document();
  document.shares_pids = true;
  EXPECT_THAT(refusal(document), HasSubstr("shares_pids"));
  document.landlock_abi = 1;
  EXPECT_EQ(refusal(document), "accepted");
  document.jailed = false;
  EXPECT_THAT(refusal(document), HasSubstr("shares_pids"));
}

TEST(PrepareDocument, OnlyABindHasAnIdentityAndNoBindIsWithout) {
  using Form = ViewCheck::Form;
  for (const Form form : {Form::kPin, Form::kReadOnlyBind, Form::kEmptyDirectory,
                          Form::kClosedDirectory, Form::kNullDevice}) {
    const bool bind = form == Form::kPin || form == Form::kReadOnlyBind;
    PrepareDocument document = complete_document();
    document.view = {{.path = "/a", .form = form, .parent_identity = {}, .identity = {}}};
    EXPECT_EQ(refusal(document) == "accepted", !bind);
    document.view.front().identity = {.device = 1, .inode = 2};
    EXPECT_EQ(refusal(document) == "accepted", bind);
  }
}

TEST(PrepareDocument, HalfACpuLimitIsRefused) {
  PrepareDocument document = complete_document();
  document.cpu_soft = 1;
  EXPECT_THAT(refusal(document), HasSubstr("cpu_hard"));
  document.cpu_hard = 2;
  EXPECT_EQ(refusal(document), "accepted");
}

}  // namespace
}  // namespace loom::bwrap
