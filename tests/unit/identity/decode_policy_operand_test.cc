#include "identity/decode_policy_operand.h"

#include <gtest/gtest.h>
#include <loom/value.h>
#include <sodium.h>

#include <string>
#include <vector>

namespace loom {
namespace {

using R = IdentityRefusal;

AbsolutePath at(std::string_view text) { return *AbsolutePath::parse(text); }

std::string base64(ByteView bytes) {
  std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the NUL
  return text;
}

void refused(std::string_view operand, R reason) {
  const auto policy = decode_policy_operand(operand);
  ASSERT_FALSE(policy) << operand.substr(0, 80);
  EXPECT_EQ(policy.error(), reason) << refusal_text(policy.error());
}

// A document whose paths are written as they are, since encode_policy only knows clean ones.
struct Written {
  std::string writable = "/w";
  std::string readable = "/r";
  std::string hidden = "/p";
  std::string scratch = "tmpfs";
  std::string mount = "/m";
};

std::string document_of(const Written& written) {
  ValueWriter out;
  out.map(9);
  for (const auto& [key, value] :
       {std::pair("writable_roots", written.writable),
        std::pair("readable_roots", written.readable), std::pair("protected", written.hidden)}) {
    out.text(key);
    out.array(1);
    out.text(value);
  }
  out.text("v");
  out.number(2);
  out.text("network");
  out.map(1);
  out.text("mode");
  out.text("off");
  out.text("limits");
  out.map(6);
  for (const auto* key : {"cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes"}) {
    out.text(key);
    out.number(0);
  }
  out.text("env_allow");
  out.array(0);
  out.text("scratch");
  out.text(written.scratch);
  out.text("mounts");
  out.array(1);
  out.map(3);
  out.text("path");
  out.text(written.mount);
  out.text("access");
  out.text("ro");
  out.text("required");
  out.boolean(false);
  return base64(out.bytes());
}

Policy sample() {
  Policy policy;
  policy.writable_roots = {at("/work")};
  policy.protected_paths = {at("/work/.env")};
  policy.limits.fsize_bytes = 9;
  return policy;
}

TEST(DecodePolicyOperandTest, ACanonicalDocumentComesBackWhole) {
  const auto policy = decode_policy_operand(base64(encode_policy(sample())));

  ASSERT_TRUE(policy) << refusal_text(policy.error());
  EXPECT_EQ(*policy, sample());
}

TEST(DecodePolicyOperandTest, OnlyPaddedStandardBase64IsTaken) {
  // 0xFB 0xEF 0xBE is "++++" in one alphabet and "----" in the other: base64 that is sound, and no
  // policy.
  refused("++++", R::kPolicyInvalid);
  refused("-___", R::kPolicyNotBase64);

  const std::string sound = base64(encode_policy(sample()));
  refused(sound + "\n", R::kPolicyNotBase64);
  refused(" " + sound, R::kPolicyNotBase64);
  refused(sound.substr(0, 8) + "\n" + sound.substr(8), R::kPolicyNotBase64);
  refused(sound + "=", R::kPolicyNotBase64);
  refused(sound + "A", R::kPolicyNotBase64);
  refused(sound.substr(0, sound.size() - 1), R::kPolicyNotBase64);
  refused("gA", R::kPolicyNotBase64);    // without its padding
  refused("gA=", R::kPolicyNotBase64);   // with half of it
  refused("gB==", R::kPolicyNotBase64);  // bits behind the last byte
  refused("gA==gA==", R::kPolicyNotBase64);
  refused("gA==", R::kPolicyInvalid);  // the same byte, well written: an empty map
  refused(std::string_view("gA==\0", 5), R::kPolicyNotBase64);
}

TEST(DecodePolicyOperandTest, ADocumentThatIsNoPolicyIsRefused) {
  refused("", R::kPolicyInvalid);
  Bytes twice = encode_policy(sample());
  twice.push_back(std::byte{0xC0});
  refused(base64(twice), R::kPolicyInvalid);
  Bytes cut = encode_policy(sample());
  cut.pop_back();
  refused(base64(cut), R::kPolicyInvalid);
  refused(document_of({.scratch = "relative"}), R::kPolicyInvalid);
  refused(document_of({.mount = "/m/../x"}), R::kPolicyInvalid);
}

TEST(DecodePolicyOperandTest, OneMebibyteOfDocumentIsReadAndNotOneByteMore) {
  // Not a policy, but what is said about it tells which check it reached.
  const std::string largest = base64(Bytes(kMaxBasePolicyBytes, std::byte{0}));
  ASSERT_EQ(largest.size(), kMaxPolicyOperandChars);
  refused(largest, R::kPolicyInvalid);
  const std::string over = base64(Bytes(kMaxBasePolicyBytes + 1, std::byte{0}));
  ASSERT_EQ(over.size(), kMaxPolicyOperandChars);
  refused(over, R::kPolicyNotBase64);
  refused(largest + "AAAA", R::kPolicyTooLong);
}

TEST(DecodePolicyOperandTest, AParentSegmentInAnyPathIsRefusedAndOtherDotsAreNot) {
  EXPECT_TRUE(decode_policy_operand(document_of({})));
  EXPECT_TRUE(decode_policy_operand(document_of(
      {.writable = "/w/..x/./y//", .readable = "/r...", .hidden = "/p/x..", .scratch = "/s/.. "})));

  refused(document_of({.writable = "/w/../x"}), R::kPolicyParentSegment);
  refused(document_of({.readable = "/.."}), R::kPolicyParentSegment);
  refused(document_of({.hidden = "/p/../q"}), R::kPolicyParentSegment);
  refused(document_of({.scratch = "/s/../s"}), R::kPolicyParentSegment);
}

TEST(DecodePolicyOperandTest, AParentSegmentIsAWholeSegment) {
  for (const std::string_view with : {"..", "/..", "../x", "/x/../y", "//..//"}) {
    EXPECT_TRUE(has_parent_segment(with)) << with;
  }
  for (const std::string_view without : {"", "/", "/x", "...", "/..x", "/x..", "/.", "/. ./."}) {
    EXPECT_FALSE(has_parent_segment(without)) << without;
  }
}

}  // namespace
}  // namespace loom
