#include "app/load_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/decode_policy.h"

namespace loom::app {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kDocument = R"({
  "v": 2, "writable_roots": ["/work"], "readable_roots": [], "protected": [], "network": {"mode": "off"},
  "limits": {"cpu_s": 1, "wall_s": 0, "mem_bytes": 0, "pids": 0, "fsize_bytes": 0, "output_bytes": 0},
  "env_allow": ["PATH"], "scratch": "tmpfs", "mounts": []})";

class LoadPolicyTest : public ::testing::Test {
 protected:
  LoadPolicyTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "loom-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~LoadPolicyTest() override { std::filesystem::remove_all(directory_); }

  Result<Policy> load(std::string_view text) {
    const std::string file = (directory_ / "policy").string();
    std::ofstream(file, std::ios::binary) << text;
    return load_policy(file);
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(LoadPolicyTest, JsonAndMsgpackOfOnePolicyAreEqual) {
  const auto json = load(kDocument);
  ASSERT_TRUE(json) << json.error().message;
  const Bytes packed = encode_policy(*json);

  const auto msgpack = load(as_text(packed));

  ASSERT_TRUE(msgpack) << msgpack.error().message;
  EXPECT_EQ(*json, *msgpack);
  EXPECT_EQ(json->limits.cpu_s, 1u);
}

TEST_F(LoadPolicyTest, AnExecTableInJsonIsTheSameDocument) {
  std::string document(kDocument);
  document.replace(document.find("\"v\": 2"), 6, R"("v": 3, "exec": {"default": "deny",
    "allow": [{"kind": "dir", "value": "/usr/bin"}], "deny": [{"kind": "name", "value": "curl"}],
    "support": "system", "memfd": "any", "required": false})");
  const auto json = load(document);
  ASSERT_TRUE(json) << json.error().message;
  const Bytes packed = encode_policy(*json);

  const auto msgpack = load(as_text(packed));

  ASSERT_TRUE(msgpack) << msgpack.error().message;
  EXPECT_EQ(*json, *msgpack);
  EXPECT_EQ(json->version, 3U);
  ASSERT_TRUE(json->exec);
  EXPECT_EQ(json->exec->allow.front(), (ExecEntry{ExecEntryKind::kDirectory, "/usr/bin"}));
  EXPECT_FALSE(json->exec->memfd_noexec);
  EXPECT_FALSE(json->exec->required);
}

TEST_F(LoadPolicyTest, NoOpinionInJsonIsNull) {
  std::string document(kDocument);
  document.replace(document.find("\"v\": 2"), 6, R"("v": 3, "exec": null)");

  const auto policy = load(document);

  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->version, 3U);
  EXPECT_FALSE(policy->exec);
}

TEST_F(LoadPolicyTest, AnExecTableInJsonIsRefusedByTheSameRules) {
  for (const auto& [exec, word] :
       {std::pair(R"({"default": "deny"})", "missing required key"),
        std::pair(R"({"default": "deny", "default": "allow"})", "default"),
        std::pair(R"([])", "expected map"),
        std::pair(R"({"default": "deny", "allow": [{"kind": "dir", "value": "/x\u0000"}],
                      "deny": [], "support": "none", "memfd": "any", "required": true})",
                  "expected string")}) {
    std::string document(kDocument);
    document.replace(document.find("\"v\": 2"), 6, std::string(R"("v": 3, "exec": )") + exec);

    const auto refused = load(document);

    ASSERT_FALSE(refused) << exec;
    EXPECT_THAT(refused.error().message, HasSubstr(word));
  }
}

TEST_F(LoadPolicyTest, AKeyThatStandsTwiceInJsonIsRefusedByName) {
  std::string twice(kDocument);
  twice.insert(1, "\"scratch\": \"/elsewhere\",");

  const auto refused = load(twice);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("scratch"));
}

TEST_F(LoadPolicyTest, TextThatIsNeitherFormIsRefused) {
  EXPECT_FALSE(load("{ not json"));
  EXPECT_FALSE(load("hello"));
  EXPECT_FALSE(load(""));
  EXPECT_TRUE(load(kDocument));
}

TEST_F(LoadPolicyTest, AFractionIsNoLimit) {
  std::string fraction(kDocument);
  fraction.replace(fraction.find("\"cpu_s\": 1"), 10, "\"cpu_s\": 1.5");

  const auto refused = load(fraction);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cpu_s"));
}

TEST_F(LoadPolicyTest, NestingWithoutEndIsRefusedInBothForms) {
  for (const std::size_t depth : {50u, 400'000u}) {
    const std::string lists = std::string(depth, '[') + std::string(depth, ']');
    const auto json = load("{\"x\": " + lists + "," + std::string(kDocument.substr(1)));
    const auto msgpack = load("\x81\xa1x" + std::string(depth, '\x91') + "\xc0");

    ASSERT_FALSE(json);
    ASSERT_FALSE(msgpack);
    if (depth > 100) {
      EXPECT_THAT(json.error().message, HasSubstr("nested too deeply"));
    }
  }
  EXPECT_TRUE(load(kDocument));
}

TEST_F(LoadPolicyTest, AMissingFileIsNamed) {
  const auto refused = load_policy("/nonexistent/policy");

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/nonexistent/policy"));
}

}  // namespace
}  // namespace loom::app
