#include "backends/seatbelt/stage2/prepare_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/value.h>

#include <array>
#include <string>
#include <string_view>

namespace loom::seatbelt {
namespace {

using ::testing::HasSubstr;

PrepareDocument full_document() {
  return {.fsize_bytes = 1,
          .cpu_s = 2,
          .address_space_bytes = UINT64_MAX,
          .processes = 4,
          .fork_brake = std::nullopt,
          .descriptor_limit = 256,
          .proxy_asked = true};
}

constexpr std::array<std::string_view, 8> kKeys = {
    "v",          "fsize_bytes",      "cpu_s",      "address_space_bytes", "processes",
    "fork_brake", "descriptor_limit", "proxy_asked"};

// A document that asks for nothing, with the value of one key written by `write_odd`, or without
// that key.
template <class WriteOdd>
Bytes odd_document(std::string_view odd, WriteOdd write_odd) {
  ValueWriter writer;
  writer.map(kKeys.size());
  for (const std::string_view key : kKeys) {
    if (key == odd) {
      write_odd(writer);
      continue;
    }
    writer.text(key);
    if (key == "v") {
      writer.number(1);
    } else if (key == "proxy_asked") {
      writer.boolean(false);
    } else {
      writer.nil();
    }
  }
  return writer.take();
}

void expect_refused(ByteView bytes, const std::string& text) {
  const auto document = decode_prepare_document(bytes);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kInvalidRequest);
  EXPECT_THAT(document.error().message, HasSubstr(text));
}

TEST(SeatbeltPrepareDocument, ComesBackAsItWas) {
  PrepareDocument brake = full_document();
  brake.processes.reset();
  brake.fork_brake = 512;
  for (const PrepareDocument& document : {PrepareDocument{}, full_document(), brake}) {
    const auto decoded = decode_prepare_document(encode(document));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, document);
  }
  const auto control = decode_prepare_document(odd_document("", [](ValueWriter&) {}));
  ASSERT_TRUE(control) << control.error().message;
  EXPECT_EQ(*control, PrepareDocument{});
}

TEST(SeatbeltPrepareDocument, EveryKeyMustBeThere) {
  for (const std::string_view key : kKeys) {
    const std::string text = key == "v" ? "version" : std::string(key) + ": missing";
    expect_refused(odd_document(key,
                                [](ValueWriter& writer) {
                                  writer.text("other");
                                  writer.nil();
                                }),
                   text);
  }
}

TEST(SeatbeltPrepareDocument, EveryKeyHasItsType) {
  for (const std::string_view key : kKeys) {
    const Bytes bytes = odd_document(key, [key](ValueWriter& writer) {
      writer.text(key);
      writer.text("1");
    });
    expect_refused(bytes, key == "v" ? "version" : std::string(key) + ": not ");
  }
}

TEST(SeatbeltPrepareDocument, ALimitOfZeroIsNone) {
  for (const std::string_view key : kKeys) {
    if (key == "v" || key == "proxy_asked") continue;
    expect_refused(odd_document(key,
                                [key](ValueWriter& writer) {
                                  writer.text(key);
                                  writer.number(0);
                                }),
                   std::string(key) + ": 0 is no limit");
  }
}

TEST(SeatbeltPrepareDocument, KnowsOneVersionAndNoOtherKey) {
  const Bytes second = odd_document("v", [](ValueWriter& writer) {
    writer.text("v");
    writer.number(2);
  });
  expect_refused(second, "not version 1");
  Bytes longer = encode(PrepareDocument{});
  ValueWriter more;
  more.text("more");
  more.nil();
  longer.insert(longer.end(), more.bytes().begin(), more.bytes().end());
  longer.front() = static_cast<std::byte>(0x80 | (kKeys.size() + 1));  // fixmap of one more
  expect_refused(longer, "not known");
}

TEST(SeatbeltPrepareDocument, TwoWordsOnOneLimitAreRefused) {
  PrepareDocument document = full_document();
  document.fork_brake = 512;
  expect_refused(encode(document), "fork_brake");
}

TEST(SeatbeltPrepareDocument, APieceOfOneIsNone) {
  const Bytes bytes = encode(full_document());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_prepare_document(ByteView(bytes).first(size))) << size;
  }
  ValueWriter list;
  list.array(0);
  expect_refused(list.bytes(), "not version 1");
}

}  // namespace
}  // namespace loom::seatbelt
