#include "identity/base64.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace loom {

// base64_plain.cc, by another name; decode_base64 is libsodium's here.
std::optional<Bytes> decode_base64_plain(std::string_view text, std::size_t max_bytes);

namespace {

// What is a digit, what only looks like one, and what sets bits that no byte takes.
constexpr std::string_view kCharacters = "ABgwQz9+/=- \n_";

void same(const std::string& text, std::size_t max_bytes) {
  EXPECT_EQ(decode_base64_plain(text, max_bytes), decode_base64(text, max_bytes))
      << '"' << text << "\", " << max_bytes;
}

// Every text of up to `length` characters that begins with `text`.
void same_from(std::string& text, std::size_t length) {
  for (std::size_t max_bytes = 0; max_bytes < 5; ++max_bytes) same(text, max_bytes);
  if (text.size() == length) return;
  for (const char next : kCharacters) {
    text.push_back(next);
    same_from(text, length);
    text.pop_back();
  }
}

TEST(Base64Test, BothDecodersAgreeAboutEveryShortText) {
  std::string text;
  same_from(text, 4);
  text = "ABg/";
  same_from(text, 8);
}

TEST(Base64Test, BothDecodersAgreeAboutEveryByteInEveryPlace) {
  for (const std::string_view start : {"QUJDREVG", "QUJDREU=", "QUJDRA=="}) {
    for (std::size_t place = 0; place < start.size(); ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(start);
        text[place] = static_cast<char>(byte);
        same(text, 16);
      }
    }
  }
}

// libsodium alone reads it as "/UJD".
TEST(Base64Test, AByteThatIsNoCharacterIsRefused) {
  EXPECT_EQ(decode_base64("\xffUJD", 16), std::nullopt);
  EXPECT_EQ(decode_base64_plain("\xffUJD", 16), std::nullopt);
  EXPECT_TRUE(decode_base64("/UJD", 16));
  EXPECT_TRUE(decode_base64_plain("/UJD", 16));
}

TEST(Base64Test, BothDecodersAgreeAboutLongTextsAndTheirBrokenCopies) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::mt19937 random(64);
  std::size_t taken = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t size = random() % 400; size > 0; --size) text += kDigits[random() % 64];
    for (std::size_t padding = random() % 3; padding > 0; --padding) text += '=';
    if (random() % 4 == 0 && !text.empty()) text[random() % text.size()] = '\n';
    same(text, 200 + random() % 100);
    if (decode_base64_plain(text, 300)) ++taken;
  }
  EXPECT_GT(taken, 100u);
}

}  // namespace
}  // namespace loom
