#include "host/caretaker_codec.h"

#include <gmock/gmock.h>

namespace loom::host {
namespace {

using ::testing::ElementsAre;

std::vector<WantedName> many_names() {
  std::vector<WantedName> names;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string text = "/w/\xff" + std::string(3'000, 'x') + std::to_string(i);
    names.push_back({.path = *AbsolutePath::parse(text),
                     .intermediate = i % 2 == 0,
                     .parent = {.device = i, .inode = ~i}});
  }
  return names;
}

TEST(CaretakerCodecTest, NamesComeBackInOrderAndEveryPartFitsAMessage) {
  const std::vector<WantedName> names = many_names();
  const std::vector<Bytes> parts = encode_names(names);
  EXPECT_GT(parts.size(), 1u);

  std::vector<WantedName> back;
  for (const Bytes& part : parts) {
    EXPECT_LT(part.size(), kMaxCaretakerMessage - 64);
    ASSERT_TRUE(decode_names(part, back));
  }

  ASSERT_EQ(back.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(back[i].path, names[i].path);
    EXPECT_EQ(back[i].intermediate, names[i].intermediate);
    EXPECT_EQ(back[i].parent, names[i].parent);
  }
}

TEST(CaretakerCodecTest, AnEmptyListIsOneEmptyPart) {
  std::vector<FileIdentity> identities;

  const std::vector<Bytes> parts = encode_identities({});

  ASSERT_EQ(parts.size(), 1u);
  ASSERT_TRUE(decode_identities(parts.front(), identities));
  EXPECT_TRUE(identities.empty());
}

TEST(CaretakerCodecTest, TextsThatDoNotFitAreLeftOut) {
  const std::vector<std::string> texts(100, std::string(1'000, 'x'));

  const Bytes part = encode_texts(texts);

  EXPECT_LT(part.size(), kMaxCaretakerMessage - 64);
  const auto back = decode_texts(part);
  ASSERT_TRUE(back);
  EXPECT_GT(back->size(), 20u);
  EXPECT_EQ(back->front(), texts.front());
}

TEST(CaretakerCodecTest, AnErrorArrivesWhole) {
  const Error error{.code = ErrorCode::kDenied, .message = "/w/a: make", .sys_errno = 13};

  const auto back = decode_error(encode_error(error));

  ASSERT_TRUE(back);
  EXPECT_EQ(*back, error);
}

TEST(CaretakerCodecTest, GarbledPartsAreRefused) {
  std::vector<WantedName> names;
  std::vector<FileIdentity> identities;
  const Bytes good = encode_names({{.path = AbsolutePath::root()}}).front();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_names(ByteView(good).first(size), names)) << size;
  }
  EXPECT_FALSE(decode_identities(good, identities));
  EXPECT_FALSE(decode_error(good));
  EXPECT_FALSE(decode_texts(good));
  EXPECT_FALSE(decode_names(encode_identities({{}, {}}).front(), names));
  EXPECT_TRUE(decode_names(good, names));
}

}  // namespace
}  // namespace loom::host
