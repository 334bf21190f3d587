#include <gtest/gtest.h>
#include <loom/digest.h>

namespace loom {
namespace {

// FIPS 180-4, the examples of its appendix.
TEST(DigestTest, TheStandardsOwnExamplesComeOut) {
  EXPECT_EQ(sha256_hex(as_bytes("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(as_bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

}  // namespace
}  // namespace loom
